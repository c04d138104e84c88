// Stands between a fabric's reader and a connection's sink: finds out whether the connection speaks
// RPC-over-RDMA and which end is the client, and hands on from then what it kept.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/connection.h"

namespace steertag::capture {

/// The port at which NFS/RDMA listens (RFC 8166 1.3, RFC 8267 8).
inline constexpr std::uint16_t kNfsRdmaPort = 20049;
/// Sends that are looked at before a connection of unknown kind is given up.
inline constexpr std::size_t kMostUndecidedSends = 8;
/// Events and octets of Sends kept until the connection is known; beyond that it is given up. RDMA
/// operations are not kept: there may be any number before the first Send, and what they belong to
/// was not seen.
inline constexpr std::size_t kMostUndecidedEvents = 256;
inline constexpr std::size_t kMostUndecidedBytes = std::size_t{256} << 10;

/// The two ends as they are told apart before one is known to be the client.
enum class Side : std::uint8_t { a, b };
constexpr Side other(Side side) {
  return side == Side::a ? Side::b : Side::a;
}

/// What is known of a connection from its addresses and its beginning.
struct FeedHints {
  Fabric fabric = Fabric::iwarp;
  std::array<std::string, 2> ends;  // texts of side a and side b, see Ends
  std::optional<Side> client;       // who opened it, or whose peer has a known port
  bool known_port = false;          // it is on a port of NFS/RDMA: nothing else is spoken there
};

class ConnectionFeed {
 public:
  ConnectionFeed(ConnectionSinks& sinks, FeedHints hints);
  ~ConnectionFeed();
  ConnectionFeed(const ConnectionFeed&) = delete;
  ConnectionFeed& operator=(const ConnectionFeed&) = delete;

  /// Which end opened the connection, if that shows later than the feed was made.
  void set_client(Side side);
  /// The text of an end, if it shows later (a queue pair number). Of no effect once a sink is open.
  void set_end(Side side, std::string text);
  void on_event(const Place& place, Side actor, const trace::Body& body);
  void on_loss(const Place& place, Side actor, LossKind kind);
  /// As ConnectionSink has them; of no use before a sink is open.
  void on_received(const Place& place, Side actor, const Place& upto);
  void on_turn(const Place& place, Side actor, bool in_order);
  /// The connection, or the capture, is over; of a connection still undecided nothing is told.
  void on_end(const Place& place);

  /// False once it is known that something else is spoken; nothing is kept or told any more, and
  /// the reader may forget the connection.
  bool wanted() const { return state_ != State::refused; }
  /// A sink is open.
  bool told() const { return state_ == State::open; }

 private:
  enum class State : std::uint8_t { undecided, open, refused };
  struct Kept;

  void decide(Side actor, const trace::Body& body);
  void keep(const Place& place, Side actor, const trace::Body& body);
  void keep_loss(const Place& place, Side actor, LossKind kind);
  void open_sink(const Place& place);
  void refuse();
  void tell(const Place& place, Side actor, const trace::Body& body);
  trace::Role role(Side side) const {
    return side == client_ ? trace::Role::client : trace::Role::server;
  }

  ConnectionSinks& sinks_;
  FeedHints hints_;
  State state_ = State::undecided;
  std::optional<Side> client_;
  std::optional<Side> replier_;  // who sent the first reply
  bool speaks_ = false;          // it is RPC-over-RDMA
  std::size_t sends_ = 0;        // looked at
  std::size_t kept_bytes_ = 0;
  std::vector<Kept> kept_;
  ConnectionSink* sink_ = nullptr;
  std::uint64_t next_index_ = 0;
};

}  // namespace steertag::capture
