// Both directions of a TCP connection: hands on their octets in order, and in an order between the
// directions in which the two ends can have known them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "capture/connection.h"
#include "capture/feed.h"
#include "capture/iwarp/tcp_segment.h"
#include "capture/iwarp/tcp_stream.h"

namespace steertag::capture::iwarp {

/// Captures swap packets that came by different queues, over distances of a few packets. What was
/// acknowledged and has not shown up after this many packets of the connection is not in the
/// capture.
inline constexpr std::uint64_t kMostPacketsUntilMissing = 64;

/// Takes what a conversation hands on. Views are valid during the call.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  virtual void on_octets(Side from, const Piece& piece) = 0;
  /// Octets of `from` before the next ones are not known.
  virtual void on_hole(Side from, const Place& place, LossKind kind) = 0;
  virtual void on_fin(Side from, const Place& place) = 0;
  virtual void on_reset(Side from, const Place& place) = 0;
  /// False once nothing more is wanted.
  virtual bool open() const = 0;
};

/// Octets are handed on once everything that their segment acknowledges has been: an answer follows
/// what it answers, whatever the order of the packets in the capture.
class TcpConversation {
 public:
  TcpConversation(Budget& budget, StreamSink& sink)
      : sink_(sink), streams_{{TcpStream(budget), TcpStream(budget)}} {}

  void take(Side from, const TcpSegment& segment, const Place& place);
  /// Nothing more will come: what is kept is handed on with its holes.
  void finish(const Place& place);
  /// Whether a SYN with this sequence number belongs to this connection.
  bool may_begin_with(Side from, std::uint32_t sequence) const;
  const TcpStream& stream(Side side) const { return streams_[static_cast<std::size_t>(side)]; }
  /// Forgets what is kept.
  void clear();

 private:
  TcpStream& own(Side side) { return streams_[static_cast<std::size_t>(side)]; }
  void set_firsts(Side from, const TcpSegment& segment);
  void take_octets(Side from, Piece piece);
  void settle(const Place& place);
  bool may_hand_on(Side from);
  bool hand_on_next();
  void hand_on(Side from);
  bool break_circle();
  std::optional<Side> stopped(bool or_kept);
  bool relieve(const Place& place);
  void give_up(Side from, const Place& place, LossKind kind);

  StreamSink& sink_;
  std::array<TcpStream, 2> streams_;
  std::uint64_t packets_ = 0;
  std::array<std::uint64_t, 2> lacking_since_{};  // packets_ when a hole showed; 0: there is none
};

}  // namespace steertag::capture::iwarp
