// The sending side of a reliable connection: packets of posted operations, and their repetition.
//
// An operation stays until the peer has acknowledged it (InfiniBand specification 9.7).
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/net_names.h"
#include "fabric/roce/packets/bent_packet.h"
#include "fabric/roce/packets/formats.h"
#include "fabric/roce/packets/policy.h"
#include "fabric/roce/reliable/congestion_window.h"
#include "fabric/roce/reliable/outgoing.h"
#include "fabric/roce/reliable/packet_output.h"
#include "fabric/roce/reliable/round_trip.h"
#include "fabric/software/ring.h"

namespace steertag::fabric::roce {

/// Receives the progress of operations. The owner may post further ones, and stop the requester.
class RequesterOwner {
 public:
  virtual ~RequesterOwner() = default;
  /// A whole Send, a packet of a Write, or a READ request is about to leave for the first time. It
  /// is about `length` octets from `offset` of the operation.
  virtual void on_sending(const Outgoing& operation, std::uint64_t offset,
                          std::uint64_t length) = 0;
  virtual void on_response(const Outgoing& operation, std::uint64_t offset, View payload) = 0;
  virtual void on_done(Operation kind, WorkId id) = 0;
  /// Nothing more can be sent.
  virtual void on_requester_failed(CloseReason reason) = 0;
};

/// What startup settled for the requests of one direction.
struct RequestTerms {
  std::uint32_t first_psn = 0;
  std::uint32_t path_mtu = 0;
  std::uint16_t reads = 0;       // READ requests in flight
  std::uint8_t rnr_retries = 0;  // at most those of the policy are made
  std::uint32_t held = 1;        // packets that our socket holds
};

class Requester {
 public:
  Requester(RequesterOwner& owner, PacketOutput& output, const fabric::Limits& limits,
            const Policy& policy = kConformingPolicy)
      : owner_(owner), output_(output), limits_(limits), policy_(policy) {}

  void start(const RequestTerms& terms);
  /// Forgets everything that was posted.
  void stop();

  Outgoing& post(Operation kind, WorkId id);
  /// Operations that the peer has not acknowledged.
  std::size_t posted() const { return queue_.size(); }

  /// Sends what window, ord and network allow.
  void transmit(Time now);
  /// An acknowledgement, or a NAK.
  void take_acknowledge(const Packet& packet, Time now);
  void take_response(const Packet& packet, Time now);

  Time deadline() const { return deadline_; }
  void on_deadline(Time now);

 private:
  void start_operation(Outgoing& operation);
  bool send_request(Outgoing& operation);
  bool send_read(Outgoing& operation);
  void emit(const Outgoing& operation, bool again, const PacketHeaders& packet);
  void gather(Outgoing& operation, std::uint32_t packet, std::size_t bytes);
  std::uint32_t in_flight() const;
  std::uint32_t requests_in_flight() const { return in_flight() - awaited_; }
  std::uint32_t send_psn() const;
  bool covers(std::uint32_t psn) const;
  void acknowledge_before(std::uint32_t psn, Time now);
  void complete(Time now);
  void progress(Time now);
  void go_back();
  void narrow(bool timed_out);
  void lost(Time now);
  void take_rnr(std::uint8_t syndrome, Time now);
  void arm(Time now);
  void measure(Time now);
  std::optional<Denial> denied_at(std::uint32_t psn) const;
  std::optional<std::string> check_response(const Outgoing& operation, const Packet& packet) const;
  void fail(Errc code, std::string detail, std::optional<Denial> denied = {});

  RequesterOwner& owner_;
  PacketOutput& output_;
  const fabric::Limits& limits_;
  const Policy& policy_;
  RequestTerms terms_;
  Ring<Outgoing> queue_;
  std::uint64_t current_ = 0;        // sequence of the operation to send from ...
  std::uint32_t position_ = 0;       // ... and its packet
  std::uint32_t oldest_ = 0;         // PSN that is acknowledged next
  std::uint32_t next_psn_ = 0;       // of the next operation
  std::uint32_t beyond_ = 0;         // after the highest PSN that was sent
  std::deque<std::uint32_t> reads_;  // PSNs after the READ requests in flight
  std::uint32_t awaited_ = 0;        // packets of responses among those in flight
  CongestionWindow requests_;
  CongestionWindow responses_;
  std::uint32_t read_burst_ = 1;
  bool recovering_ = false;  // went back to oldest_, and has seen no progress since
  std::uint8_t rnr_left_ = 0;
  Time paused_until_ = 0;  // RNR
  bool paused_ = false;
  Time stalled_since_ = 0;
  RoundTrip round_trip_;
  std::chrono::nanoseconds timeout_{0};
  std::optional<std::uint32_t> timed_psn_;  // sent at timed_at_, and not repeated since
  Time timed_at_ = 0;
  Time deadline_ = kNever;
  bool started_ = false;
  std::vector<View> pieces_;
};

/// The time that an RNR NAK of this syndrome asks for.
std::chrono::microseconds rnr_wait(std::uint8_t syndrome);

}  // namespace steertag::fabric::roce
