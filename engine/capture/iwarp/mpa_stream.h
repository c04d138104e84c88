// One direction of an MPA connection: its startup frame and FPDUs, from octets in order.
#pragma once

#include <cstdint>
#include <optional>

#include "capture/connection.h"
#include "capture/connection_classifier.h"
#include "capture/iwarp/tcp_stream.h"
#include "rdma/iwarp/mpa_startup.h"
#include "rdma/iwarp/segment.h"

namespace steertag::capture::iwarp {

/// After this many consecutive bad FPDUs the framing counts as lost.
inline constexpr int kMostBadFpdus = 2;

/// A DDP segment. Its payload may be shorter than it was on the wire.
struct Ulpdu {
  rdma::iwarp::Segment segment;
  View payload;
  std::size_t payload_length = 0;
};

/// A startup frame, perhaps with truncated private data.
struct Startup {
  rdma::iwarp::StartupFrame frame;
  bool cut = false;
};

/// Receives the content of a direction. Views are valid during the call.
class MpaSink {
 public:
  virtual ~MpaSink() = default;
  virtual void on_startup(Side from, const FrameStamp& stamp, const Startup& startup) = 0;
  /// The direction does not begin with a startup frame.
  virtual void on_no_startup(Side from, const FrameStamp& stamp) = 0;
  virtual void on_ulpdu(Side from, const FrameStamp& stamp, const Ulpdu& ulpdu) = 0;
  /// Some of what was sent before `place` is unknown.
  virtual void on_lost(Side from, const FrameStamp& stamp, LossKind kind) = 0;
};

class MpaStream {
 public:
  MpaStream(MpaSink& sink, Side side) : sink_(sink), side_(side) {}

  /// The other end sent a request: this direction begins with a reply.
  void expect_reply();
  /// The result of the startup frames.
  void use_crc() { use_crc_ = true; }
  void use_markers() { use_markers_ = true; }
  /// Takes nothing more; later octets are lost.
  void stop() { state_ = State::stopped; }
  /// Frees the buffers. Do not call it from a sink's method.
  void release();

  /// The next octets. With `at_start` they are the direction's first.
  void take(const Piece& piece, bool at_start);
  /// Octets before the next ones are missing.
  void skip();
  /// Whether the last octet completes an FPDU, as far as is known.
  bool whole() const { return state_ != State::framed || have() == 0; }

 private:
  enum class State : std::uint8_t { fresh, startup, framed, unaligned, stopped };
  /// A tentative alignment: the first FPDU is skipped, and the second must look like one.
  enum class Trial : std::uint8_t { none, first, second };
  /// The unread rest of a piece.
  struct Run {
    View octets;
    std::size_t missing = 0;
    std::uint64_t position = 0;
    bool done() const { return octets.empty() && missing == 0; }
    /// Skips octets. Missing ones come after those in the view.
    void pass(std::size_t count);
  };

  void begin(const Piece& piece, bool at_start);
  void take_startup(Run& run);
  void end_startup(const Run& run, rdma::iwarp::StartupKind kind);
  void strip(Run& run);
  void align(const Run& run, bool starts_segment);
  void take_fpdus(Run& run);
  void begin_fpdu(Run& run);
  void continue_fpdu(Run& run);
  bool disproved(View fpdu) const;
  void end_fpdu(View captured, std::size_t ulpdu_length);
  void bad_fpdu();
  void forget_partial();
  void lose_alignment(LossKind kind);
  void lose(LossKind kind) { sink_.on_lost(side_, stamp_, kind); }
  std::size_t have() const { return partial_.size() + partial_missing_; }

  MpaSink& sink_;
  Side side_;
  State state_ = State::fresh;
  Trial trial_ = Trial::none;
  std::optional<rdma::iwarp::StartupKind> expected_;
  bool use_crc_ = false;
  bool use_markers_ = false;
  bool was_framed_ = false;
  bool startup_cut_ = false;
  int bad_fpdus_ = 0;
  FrameStamp stamp_;
  LossKind why_unaligned_ = LossKind::joined;
  std::optional<std::uint64_t> operation_begin_;  // position after the startup frame
  Bytes partial_;                                 // of a startup frame or an FPDU
  std::size_t partial_missing_ = 0;               // missing octets after `partial_`
  Bytes stripped_;
};

}  // namespace steertag::capture::iwarp
