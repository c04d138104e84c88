// One connection between two queue pairs: brings the packets of both directions into an order that
// the two sides can have known, and says what the capture lacks.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>

#include "capture/feed.h"
#include "capture/infiniband/hold.h"
#include "capture/infiniband/requests.h"
#include "capture/infiniband/transport_packet.h"

namespace steertag::capture::infiniband {

/// Packets of a connection for which one is waited for that was accepted, for a packet behind it
/// was acknowledged: captures misplace packets by a few.
inline constexpr std::uint64_t kMostMisplaced = 8;
/// The same for a response to a read. Whether it was accepted does not show; if it was lost, the
/// read is asked for again after a while.
inline constexpr std::uint64_t kMostMisplacedResponses = 64;
/// Packets of one side that were told and wait for their acknowledgement; of more the first count
/// as never acknowledged.
inline constexpr std::size_t kMostUnacknowledged = 4096;
/// An acknowledgement of what lies further ahead than this belongs to another sequence.
inline constexpr std::int32_t kMostAhead = 1 << 17;

/// Packets are told at once as long as they come in order. One that comes too early opens a hold:
/// a request behind one that is not there, a response to what was not asked for yet, an
/// acknowledgement that overtakes responses. Until the hold is over everything waits, of both
/// directions, so that a reply is not told before a call that was captured late.
///
/// What remains: a request that was captured before what it answers, with no acknowledgement
/// between them, is told as it was captured. The sink is told of acknowledgements and of the order
/// of messages, so that it knows what is certain (ConnectionSink::on_turn).
class Connection {
 public:
  Connection(ConnectionSinks& sinks, FeedHints hints);

  ConnectionFeed& feed() { return feed_; }
  /// Its first request will have this number.
  void start_at(Side side, std::uint32_t psn) { requests(side).start_at(psn); }
  /// The path MTU, as announced; what packets show goes before it.
  void set_mtu(std::uint32_t octets);
  void read(Side sender, const TransportPacket& packet);
  /// Tells what is held back; what that waits for will not come.
  void flush();
  /// Flushes, and ends the feed.
  void end(const Place& place);
  /// Nothing more is told, and nothing is kept.
  bool over() const { return over_; }
  /// It is over because it speaks something else.
  bool strange() const { return strange_; }
  /// Octets of memory that grow with what was read.
  std::size_t buffered() const;

 private:
  /// The highest number that was acknowledged beyond what was seen of a side's requests.
  struct Proof {
    bool any = false;
    std::uint32_t psn = 0;
    std::uint64_t since = 0;  // in arrivals
  };
  /// A response that is due to a side and did not come although later ones did.
  struct Lacking {
    std::uint32_t psn = 0;
    std::uint64_t since = 0;
    bool asked_again = false;
  };

  /// A packet of a request that was told.
  struct Told {
    std::uint32_t psn = 0;
    Place place;
  };

  Requests& requests(Side side) { return requests_[static_cast<std::size_t>(side)]; }
  const Requests& requests(Side side) const { return requests_[static_cast<std::size_t>(side)]; }
  Proof& proof(Side side) { return proofs_[static_cast<std::size_t>(side)]; }
  Lacking& lacking(Side side) { return lacking_[static_cast<std::size_t>(side)]; }

  void note_time(const Place& place);
  void note_mtu(const TransportPacket& packet);
  void arrive_request(Side sender, const TransportPacket& packet);
  void arrive_response(Side sender, const TransportPacket& packet);
  void note_accepted(Side requester, std::uint32_t psn);
  void note_received(Side requester, std::uint32_t psn, const Place& place);
  bool proven(Side requester);
  Order order_of(Side sender, const TransportPacket& packet) const;
  bool waited_enough(const HeldPacket& held);
  void give_up(const HeldPacket& held, LossKind kind);
  void settle();
  /// `in_order`: it waited for nothing; where something did shortly before, nothing is certain.
  void take(Side sender, const TransportPacket& packet, bool in_order);
  void take_request(Side sender, const TransportPacket& packet, bool in_order);
  void stop(const Place& place);

  ConnectionFeed feed_;
  std::array<Requests, 2> requests_;
  std::array<Proof, 2> proofs_;
  std::array<Lacking, 2> lacking_;
  std::array<std::deque<Told>, 2> unacknowledged_;
  Hold hold_;
  std::uint64_t arrivals_ = 0;
  /// The latest arrival at which something waited, or that is older than one before it; 0: none.
  std::uint64_t disturbed_ = 0;
  std::int64_t latest_ns_ = std::numeric_limits<std::int64_t>::min();
  bool over_ = false;
  bool strange_ = false;
};

}  // namespace steertag::capture::infiniband
