// Reassembles the DDP segments of one direction into RDMAP messages (RFC 5040 4, 5; RFC 5041 5).
//
// It accepts what a receiver would accept.
#pragma once

#include <cstdint>
#include <optional>

#include "capture/connection.h"
#include "capture/iwarp/budget.h"
#include "capture/iwarp/mpa_stream.h"
#include "trace/event.h"

namespace steertag::capture::iwarp {

/// RFC 8797 can announce inline thresholds up to 256 KiB. Longer messages break rules, and must be
/// visible.
inline constexpr std::size_t kMostSendBytes = std::size_t{1} << 20;

/// The result of one segment. The view of a body is valid until the next segment.
struct Completed {
  std::optional<trace::Body> body;
  std::optional<LossKind> loss;
  bool terminated = false;  // the direction sent its Terminate, perhaps with unknown content
};

class DdpMessages {
 public:
  explicit DdpMessages(Budget& budget) : budget_(budget) {}
  ~DdpMessages() { forget_message(); }
  DdpMessages(const DdpMessages&) = delete;
  DdpMessages& operator=(const DdpMessages&) = delete;

  /// The direction's start is in the capture: sequence numbers begin at 1.
  void expect_first();
  /// The first Send without octets is the RTR message (RFC 6581 9.2), which has no upper layer.
  void skip_ready_to_receive() { ready_to_receive_ = true; }
  Completed take(const Ulpdu& ulpdu);
  /// Segments are missing. The current message stays incomplete, and any sequence number may
  /// follow.
  void lose();
  /// Frees the octets of the last body.
  void release_message() {
    if (!in_message_) forget_message();
  }
  bool between_messages() const { return !in_message_; }

 private:
  Completed take_send(const Ulpdu& ulpdu);
  Completed take_read_request(const Ulpdu& ulpdu);
  Completed take_terminate(const Ulpdu& ulpdu);
  Completed take_read_refusal(const Ulpdu& ulpdu);
  std::optional<LossKind> fault_of_send(const Ulpdu& ulpdu) const;
  std::optional<LossKind> append(const Ulpdu& ulpdu);
  void forget_message();

  Budget& budget_;
  std::optional<std::uint32_t> send_msn_;  // of the next or current Send
  std::optional<std::uint32_t> read_msn_;
  std::optional<std::uint32_t> refusal_msn_;
  bool ready_to_receive_ = false;
  bool in_message_ = false;
  bool broken_ = false;  // a part of the current Send is unknown, and the loss was reported
  rdma::iwarp::Opcode opcode_ = rdma::iwarp::Opcode::send;
  std::uint64_t mo_ = 0;
  Bytes message_;
};

}  // namespace steertag::capture::iwarp
