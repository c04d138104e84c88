// Filters and buffers a connection's events until its protocol and client are known.
//
// It is the link between a fabric's reader and a connection's sink.
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
/// A connection is dropped after this many Sends of an unknown protocol.
inline constexpr std::size_t kMostUndecidedSends = 8;
/// At most this many events and octets of Sends are buffered; beyond that the connection is
/// dropped. RDMA operations are not buffered. Any number may precede the first Send, and their
/// calls were not captured.
inline constexpr std::size_t kMostUndecidedEvents = 256;
inline constexpr std::size_t kMostUndecidedBytes = std::size_t{256} << 10;

/// The two ends, before the client is known.
enum class Side : std::uint8_t { a, b };
constexpr Side other(Side side) {
  return side == Side::a ? Side::b : Side::a;
}

/// What addresses and setup say about a connection.
struct ConnectionHints {
  Fabric fabric = Fabric::iwarp;
  std::array<std::string, 2> ends;  // texts of side a and side b, see Ends
  std::optional<Side> client;       // who opened it, or connects to a known port
  bool known_port = false;          // its port is one of NFS/RDMA, so no other protocol is possible
};

class ConnectionClassifier {
 public:
  ConnectionClassifier(ConnectionSinks& sinks, ConnectionHints hints);
  ~ConnectionClassifier();
  ConnectionClassifier(const ConnectionClassifier&) = delete;
  ConnectionClassifier& operator=(const ConnectionClassifier&) = delete;

  /// Sets the end that opened the connection, if it is known only now.
  void set_client(Side side);
  /// Sets the text of an end, such as a queue pair number. No effect once a sink is open.
  void set_end(Side side, std::string text);
  void on_event(const FrameStamp& stamp, Side actor, const trace::Body& body);
  void on_loss(const FrameStamp& stamp, Side actor, LossKind kind);
  /// As in ConnectionSink. No effect before a sink is open.
  void on_acknowledged(const FrameStamp& stamp, Side actor, const FrameStamp& up_to);
  void on_message_packet(const FrameStamp& stamp, Side actor, bool in_order);
  /// Counts a packet. The sink receives the counts before its end.
  void on_wrong_crc(const FrameStamp& stamp, Side actor);
  /// The connection or the capture ends. An undecided connection is never reported.
  void on_end(const FrameStamp& stamp);

  /// False for another protocol. The classifier then keeps and reports nothing, and the reader may
  /// drop the connection.
  bool wanted() const { return state_ != State::refused; }
  /// Whether a sink is open.
  bool is_open() const { return state_ == State::open; }

 private:
  enum class State : std::uint8_t { undecided, open, refused };
  struct Kept;

  void decide(Side actor, const trace::Body& body);
  void keep(const FrameStamp& stamp, Side actor, const trace::Body& body);
  void keep_loss(const FrameStamp& stamp, Side actor, LossKind kind);
  void open_sink(const FrameStamp& stamp);
  void refuse();
  void report(const FrameStamp& stamp, Side actor, const trace::Body& body);
  trace::Role role(Side side) const {
    return side == client_ ? trace::Role::client : trace::Role::server;
  }

  ConnectionSinks& sinks_;
  ConnectionHints hints_;
  State state_ = State::undecided;
  std::optional<Side> client_;
  std::optional<Side> replier_;  // sender of the first reply
  bool is_rpcrdma_ = false;      // the protocol is RPC-over-RDMA
  bool is_optimistic_ = false;   // or its request has the private data of direct access
  std::size_t sends_ = 0;        // examined
  std::size_t kept_bytes_ = 0;
  std::vector<Kept> kept_;
  ConnectionSink* sink_ = nullptr;
  std::uint64_t next_index_ = 0;
  std::array<PacketTally, 2> wrong_crcs_;  // by Side
};

}  // namespace steertag::capture
