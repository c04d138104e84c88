// One connection between two queue pairs: orders its packets and reports what the capture lacks.
//
// The order is one that both sides can have observed.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>

#include "capture/connection_classifier.h"
#include "capture/infiniband/reorder_queue.h"
#include "capture/infiniband/requests.h"
#include "capture/infiniband/transport_packet.h"

namespace steertag::capture::infiniband {

/// How many packets to wait for one that was accepted. A later packet's acknowledgement proves the
/// acceptance. Captures misplace packets by a few.
inline constexpr std::uint64_t kMostReordering = 8;
/// How many packets to wait for a read response. Nothing shows whether it was accepted. After a
/// loss the requester repeats the read.
inline constexpr std::uint64_t kMostResponseReordering = 64;
/// At most this many reported packets of one side wait for an acknowledgement. Beyond that the
/// first one counts as never acknowledged.
inline constexpr std::size_t kMostUnacknowledged = 4096;
/// An acknowledgement further ahead than this belongs to another sequence.
inline constexpr std::int32_t kMostAhead = 1 << 17;

/// Packets in order are reported at once. A packet that is too early starts the reorder queue. It
/// is a request after a missing one, a response to an unseen request, or an acknowledgement that
/// overtakes responses. Until the queue is empty, packets of both directions wait. So no reply is
/// reported before a call that was captured late.
///
/// One case remains. A request was captured before the message that it answers, with no
/// acknowledgement between them. It is reported in the order of the capture. The sink receives
/// acknowledgements and the order of messages, and so knows what is certain
/// (ConnectionSink::on_message_packet).
class Connection {
 public:
  Connection(ConnectionSinks& sinks, ConnectionHints hints);

  ConnectionClassifier& classifier() { return classifier_; }
  /// Sets the PSN of the side's first request.
  void start_at(Side side, std::uint32_t psn) { requests(side).start_at(psn); }
  /// The announced path MTU. The sizes of packets override it.
  void set_mtu(std::uint32_t octets);
  void read(Side sender, const TransportPacket& packet);
  /// Reports all queued packets. What they wait for is lost.
  void flush();
  /// Flushes, then ends the connection at the classifier.
  void end(const FrameStamp& stamp);
  /// The connection reports nothing more and keeps nothing.
  bool over() const { return over_; }
  /// It is over because it speaks another protocol.
  bool other_protocol() const { return other_protocol_; }
  /// Packets of its queue pairs have come: both sides have set it up.
  bool used() const { return arrivals_ > 0; }
  /// Buffered octets, which grow with the capture.
  std::size_t buffered() const;

 private:
  /// The highest acknowledged PSN beyond the side's captured requests.
  struct Proof {
    bool any = false;
    std::uint32_t psn = 0;
    std::uint64_t since = 0;  // counted in arrivals
  };
  /// A response that did not arrive although later ones did.
  struct MissingResponse {
    std::uint32_t psn = 0;
    std::uint64_t since = 0;
    bool requested_again = false;
  };

  /// A packet of a request that was reported.
  struct ReportedPacket {
    std::uint32_t psn = 0;
    FrameStamp stamp;
  };

  Requests& requests(Side side) { return requests_[static_cast<std::size_t>(side)]; }
  const Requests& requests(Side side) const { return requests_[static_cast<std::size_t>(side)]; }
  Proof& proof(Side side) { return proofs_[static_cast<std::size_t>(side)]; }
  MissingResponse& missing_response(Side side) {
    return missing_responses_[static_cast<std::size_t>(side)];
  }

  void note_time(const FrameStamp& stamp);
  void note_mtu(const TransportPacket& packet);
  void arrive_request(Side sender, const TransportPacket& packet);
  void arrive_response(Side sender, const TransportPacket& packet);
  void note_accepted(Side requester, std::uint32_t psn);
  void note_received(Side requester, std::uint32_t psn, const FrameStamp& stamp);
  bool proven(Side requester);
  Order order_of(Side sender, const TransportPacket& packet) const;
  bool wait_is_over(const QueuedPacket& queued);
  void report_loss(const QueuedPacket& queued, LossKind kind);
  void drain();
  /// `in_order`: the packet waited for nothing. Shortly after a wait, no order is certain.
  void take(Side sender, const TransportPacket& packet, bool in_order);
  void take_request(Side sender, const TransportPacket& packet, bool in_order);
  void stop(const FrameStamp& stamp);

  ConnectionClassifier classifier_;
  std::array<Requests, 2> requests_;
  std::array<Proof, 2> proofs_;
  std::array<MissingResponse, 2> missing_responses_;
  std::array<std::deque<ReportedPacket>, 2> unacknowledged_;
  ReorderQueue reorder_queue_;
  std::uint64_t arrivals_ = 0;
  /// The latest arrival at which a packet waited, or was older than its predecessor. 0: none.
  std::uint64_t disturbed_ = 0;
  std::int64_t latest_ns_ = std::numeric_limits<std::int64_t>::min();
  bool over_ = false;
  bool other_protocol_ = false;
};

}  // namespace steertag::capture::infiniband
