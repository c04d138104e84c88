// Both directions of a TCP connection: delivers their octets in order.
//
// The order between the directions is one that both ends can have observed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "capture/connection.h"
#include "capture/connection_classifier.h"
#include "capture/iwarp/tcp_segment.h"
#include "capture/iwarp/tcp_stream.h"

namespace steertag::capture::iwarp {

/// Captures reorder packets of different receive queues by a few places. Acknowledged octets that
/// are missing after this many packets of the connection are lost.
inline constexpr std::uint64_t kMostPacketsUntilMissing = 64;

/// Receives the octets of a conversation. Views are valid during the call.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  virtual void on_octets(Side from, const Piece& piece) = 0;
  /// Octets of `from` before the next ones are missing.
  virtual void on_hole(Side from, const FrameStamp& stamp, LossKind kind) = 0;
  virtual void on_fin(Side from, const FrameStamp& stamp) = 0;
  virtual void on_reset(Side from, const FrameStamp& stamp) = 0;
  /// False once the sink needs nothing more.
  virtual bool open() const = 0;
};

/// A segment is delivered after everything that it acknowledges. An answer therefore follows its
/// question in any capture order.
class TcpConversation {
 public:
  TcpConversation(Budget& budget, StreamSink& sink)
      : sink_(sink), streams_{{TcpStream(budget), TcpStream(budget)}} {}

  void take(Side from, const TcpSegment& segment, const FrameStamp& stamp);
  /// The capture ends: delivers what is kept, with its holes.
  void finish(const FrameStamp& stamp);
  /// Whether a SYN with this sequence number belongs to this connection.
  bool may_begin_with(Side from, std::uint32_t sequence) const;
  const TcpStream& stream(Side side) const { return streams_[static_cast<std::size_t>(side)]; }
  /// Drops what is kept.
  void clear();

 private:
  TcpStream& own(Side side) { return streams_[static_cast<std::size_t>(side)]; }
  void set_firsts(Side from, const TcpSegment& segment);
  void take_octets(Side from, Piece piece);
  void deliver_ready(const FrameStamp& stamp);
  bool can_deliver(Side from);
  bool deliver_next();
  void deliver(Side from);
  bool break_deadlock();
  std::optional<Side> stopped(bool or_kept);
  bool enforce_limits(const FrameStamp& stamp);
  void report_loss(Side from, const FrameStamp& stamp, LossKind kind);

  StreamSink& sink_;
  std::array<TcpStream, 2> streams_;
  std::uint64_t packets_ = 0;
  std::array<std::uint64_t, 2> hole_since_{};  // packets_ when the hole appeared; 0: no hole
};

}  // namespace steertag::capture::iwarp
