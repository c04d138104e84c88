// The receiving side of RDMAP: checks every segment and delivers whole messages.
//
// It checks posted receives, regions and outstanding reads (RFC 5040 5, 7.2; RFC 5041 5, 7.1).
#pragma once

#include <array>
#include <optional>

#include "fabric/iwarp/formats.h"
#include "fabric/iwarp/fpdu.h"
#include "fabric/iwarp/policy.h"
#include "fabric/software/connection_receives.h"
#include "fabric/software/memory_region.h"
#include "fabric/software/send_splitter.h"

namespace steertag::fabric::iwarp {

/// A Read Request of ours whose response is not complete.
struct PendingRead {
  std::uint32_t sink_stag = 0;
  std::uint64_t sink_offset = 0;
  std::uint32_t length = 0;
  std::uint32_t received = 0;
  Memory memory;               // keeps the sink's octets
  std::byte* place = nullptr;  // of the first octet
  WorkId id = 0;
  std::uint32_t msn = 1;  // of the request
};

/// Receives whole messages in order. Views are valid during the call.
class Delivery {
 public:
  virtual ~Delivery() = default;
  virtual void on_message(const PostedReceive& receive, MutableView bytes,
                          std::optional<std::uint32_t> invalidated) = 0;
  virtual void on_write_segment(const Segment& segment, View payload) = 0;
  /// `msn` is the request's.
  virtual void on_read_request(const ReadRequest& request, std::uint32_t msn,
                               SoftwareRegion* source) = 0;
  /// Without `recoverable` the connection ends.
  virtual void on_read_refused(const ReadRequest& request, const ReadRefusal& refusal,
                               bool recoverable) = 0;
  virtual void on_response_segment(const Segment& segment, View payload) = 0;
  virtual void on_read_done(WorkId id) = 0;
  /// The peer refused the Read with this id.
  virtual void on_refused(WorkId id, const ReadRefusal& refusal) = 0;
  /// Any whole refusal, before it is checked; also one that ends the connection.
  virtual void on_refusal(const ReadRefusal& refusal) = 0;
  virtual void on_terminate(View body) = 0;
  /// False once the connection takes nothing more.
  virtual bool open() const = 0;
};

class MessageReceiver final : public SegmentSink {
 public:
  MessageReceiver(SoftwareDomain& domain, Delivery& delivery, const ReceivePolicy& policy,
                  SendSplitter& splitter)
      : domain_(domain), delivery_(delivery), policy_(policy), splitter_(splitter) {}

  software::ConnectionReceives& receives() { return receives_; }
  const software::ConnectionReceives& receives() const { return receives_; }
  /// Connection::recover_read_faults
  void recover_read_faults() { recovers_ = true; }
  void expect(PendingRead read) { reads_.push() = std::move(read); }
  std::size_t reads_outstanding() const { return reads_.size(); }

  /// Inbound Read Requests that may be in progress at a time (our IRD).
  void limit_inbound_reads(std::uint16_t ird) { ird_ = ird; }
  /// A Read Response, or a refusal, has left completely.
  void inbound_read_answered() { --inbound_reads_; }

  bool between_messages() const { return !in_message_; }

  Expected<MutableView, Violation> place(const Segment& segment,
                                         std::size_t payload_bytes) override;
  std::optional<Violation> deliver(const Segment& segment, MutableView payload) override;
  bool admits(const Segment& segment) override {
    const bool takes = receives_.shared() && !segment.tagged && segment.qn == kSendQueue;
    return !takes || receives_.ready();
  }
  bool receiving() const override { return delivery_.open(); }
  bool splits(const Segment& segment) const override {
    return splitter_.used() && !segment.tagged && segment.qn == kSendQueue;
  }
  MutableView next_piece(MutableView whole, std::size_t have) override {
    return splitter_.next(receives_.front().buffer, send_mo_ + have, whole.size() - have);
  }

 private:
  Expected<MutableView, Violation> place_write(const Segment& segment, std::size_t bytes);
  Expected<MutableView, Violation> place_response(const Segment& segment, std::size_t bytes);
  Expected<MutableView, Violation> place_send(const Segment& segment, std::size_t bytes);
  Expected<MutableView, Violation> place_read_request(const Segment& segment, std::size_t bytes);
  Expected<MutableView, Violation> place_terminate(const Segment& segment, std::size_t bytes);
  /// A whole refusal on a connection without recover_read_faults.
  bool is_unagreed_refusal(const Segment& segment, std::size_t bytes) const;
  Expected<MutableView, Violation> place_refusal(const Segment& segment, std::size_t bytes);
  std::optional<Violation> deliver_send(const Segment& segment, MutableView payload);
  std::optional<Violation> deliver_read_request();
  std::optional<Violation> deliver_response(const Segment& segment, View payload);
  std::optional<Violation> deliver_refusal();
  std::optional<Violation> check_source(const ReadRequest& request) const;

  SoftwareDomain& domain_;
  Delivery& delivery_;
  const ReceivePolicy& policy_;
  SendSplitter& splitter_;
  software::ConnectionReceives receives_;
  Ring<PendingRead> reads_;
  std::uint16_t ird_ = 0;
  std::size_t inbound_reads_ = 0;

  std::uint32_t send_msn_ = 1;  // of the current message or the next one
  std::uint32_t send_mo_ = 0;
  bool in_message_ = false;
  Opcode send_opcode_ = Opcode::send;
  std::uint32_t read_msn_ = 1;
  bool recovers_ = false;
  std::uint32_t refusal_msn_ = 1;
  std::array<std::byte, kReadRefusalBytes> refusal_{};
  std::array<std::byte, kReadRequestBytes> read_request_{};
  std::array<std::byte, kMostTerminateBytes> terminate_{};
};

}  // namespace steertag::fabric::iwarp
