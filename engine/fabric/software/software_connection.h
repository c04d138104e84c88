// A connection whose operations move octets of software memory.
#pragma once

#include <optional>
#include <span>

#include "fabric/provider/event_observation.h"
#include "fabric/provider/reactor_connection.h"
#include "fabric/software/posted.h"
#include "fabric/software/posted_receive.h"
#include "fabric/software/send_splitter.h"
#include "fabric/software/software_core.h"

namespace steertag::fabric::software {

class SoftwareConnection : public ReactorConnection {
 public:
  Expected<void, Error> send(std::span<const View> parts, WorkId id,
                             std::optional<std::uint32_t> invalidate, const Fault* fault) override;
  using Connection::rdma_write;
  Expected<void, Error> rdma_write(std::span<const View> parts, std::uint32_t stag,
                                   std::uint64_t offset, WorkId id, const Fault* fault) override;
  Expected<void, Error> rdma_read(Region& sink, std::uint64_t sink_offset, std::uint32_t length,
                                  std::uint32_t stag, std::uint64_t offset, WorkId id,
                                  const Fault* fault) override;
  Domain& domain() override { return domain_; }
  std::uint16_t most_outbound_reads() const override { return ord_; }
  Expected<void, Error> split_sends(HeadReader* reader) override {
    splitter_.use(reader);
    return {};
  }

 protected:
  /// No message has more than `most_message_bytes`.
  SoftwareConnection(SoftwareCore& core, SoftwareDomain& domain, trace::Role role, Handler& handler,
                     std::uint64_t most_message_bytes)
      : ReactorConnection(core, role, handler),
        domain_(domain),
        core_(core),
        most_message_bytes_(most_message_bytes) {}

  /// A new operation at the end of the send queue; the caller fills it.
  virtual Expected<Posted*, Error> post(Operation kind, WorkId id, const Fault* fault) = 0;
  virtual Expected<void, Error> post_read(ReadOrder order, WorkId id, const Fault* fault) = 0;
  virtual EventObservation& observed() = 0;

  /// The region as this connection's own type, if it is in its domain.
  SoftwareRegion* own(Region& region) const;

  /// The whole Send, or octets of the RDMA Write, are about to leave.
  void tell_send(const Posted& operation);
  void tell_write(const Posted& operation, std::uint64_t offset, std::uint64_t octets);
  /// A Send has arrived: closes what it invalidates, and tells the owner.
  void take_message(const PostedReceive& receive, MutableView bytes,
                    std::optional<std::uint32_t> invalidated);

  SoftwareDomain& domain_;
  SendSplitter splitter_;  // of what the peer sends
  std::uint16_t ord_ = 0;

 private:
  View joined(const Posted& operation, std::uint64_t offset, std::uint64_t octets);

  SoftwareCore& core_;
  std::uint64_t most_message_bytes_;
};

}  // namespace steertag::fabric::software
