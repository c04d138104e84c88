// One TCP connection that may be iWARP: detects it, and reports its events.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "capture/connection_classifier.h"
#include "capture/iwarp/ddp_messages.h"
#include "capture/iwarp/mpa_stream.h"
#include "capture/iwarp/tcp_conversation.h"

namespace steertag::capture::iwarp {

/// On a known port, the search for an FPDU stops after this many pieces without one.
inline constexpr int kMostUnalignedPieces = 1024;

class MpaConnection final : private StreamSink, private MpaSink {
 public:
  /// `hints` for the classifier.
  MpaConnection(ConnectionSinks& sinks, Budget& budget, ConnectionHints hints);

  void take(Side from, const TcpSegment& segment, const FrameStamp& stamp);
  /// The capture ends. `end` is the place of the connection's end.
  void finish(const FrameStamp& end);

  enum class State : std::uint8_t {
    candidate,   // it may be iWARP
    recognized,  // it is iWARP
    over,        // it has ended
    refused,     // it is another protocol
  };
  State state() const { return state_; }
  /// Whether a SYN, or a startup frame without one, starts another connection between the same
  /// ends.
  bool replaced_by(Side from, const TcpSegment& segment) const;

 private:
  void on_octets(Side from, const Piece& piece) override;
  void on_hole(Side from, const FrameStamp& stamp, LossKind kind) override;
  void on_fin(Side from, const FrameStamp& stamp) override;
  void on_reset(Side from, const FrameStamp& stamp) override;
  bool open() const override { return state_ == State::candidate || state_ == State::recognized; }
  void on_startup(Side from, const FrameStamp& stamp, const Startup& startup) override;
  void on_no_startup(Side from, const FrameStamp& stamp) override;
  void on_ulpdu(Side from, const FrameStamp& stamp, const Ulpdu& ulpdu) override;
  void on_lost(Side from, const FrameStamp& stamp, LossKind kind) override;

  void take_request(Side from, const FrameStamp& stamp, const Startup& startup);
  void take_reply(Side from, const FrameStamp& stamp, const Startup& startup);
  void recognize(const FrameStamp& stamp);
  void refuse();
  void lose(Side from, const FrameStamp& stamp, LossKind kind);
  void report(Side from, const FrameStamp& stamp, const trace::Body& body);
  void report_losses();
  void disconnect(Side culprit, const FrameStamp& stamp, bool clean);
  void end(const FrameStamp& stamp);
  MpaStream& stream(Side side) { return streams_[static_cast<std::size_t>(side)]; }
  DdpMessages& messages(Side side) { return messages_[static_cast<std::size_t>(side)]; }

  struct Loss {
    FrameStamp stamp;
    LossKind kind = LossKind::missing;
  };

  ConnectionSinks& sinks_;
  ConnectionHints hints_;
  State state_ = State::candidate;
  TcpConversation conversation_;
  std::array<MpaStream, 2> streams_;
  std::array<DdpMessages, 2> messages_;
  std::optional<ConnectionClassifier> classifier_;
  FrameStamp last_stamp_;
  int unaligned_ = 0;
  std::array<bool, 2> startup_seen_{};
  std::optional<rdma::iwarp::StartupFrame> request_;
  std::array<std::optional<Loss>, 2> losses_;     // to be reported before the next event
  std::array<std::optional<LossKind>, 2> holes_;  // at the current end of the direction
  std::optional<Side> first_fin_;
};

}  // namespace steertag::capture::iwarp
