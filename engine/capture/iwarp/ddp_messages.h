// Puts the DDP segments of one direction together to what RDMAP says with them (RFC 5040 4, 5;
// RFC 5041 5), as far as the receiving end would take it.
#pragma once

#include <cstdint>
#include <optional>

#include "capture/connection.h"
#include "capture/iwarp/budget.h"
#include "capture/iwarp/mpa_stream.h"
#include "trace/event.h"

namespace steertag::capture::iwarp {

/// The largest inline threshold that RFC 8797 can announce is 256 KiB; what is longer breaks rules,
/// and is to be seen to do so.
inline constexpr std::size_t kMostSendBytes = std::size_t{1} << 20;

/// What one segment completes. The view of a body is valid until the next segment.
struct Completed {
  std::optional<trace::Body> body;
  std::optional<LossKind> loss;
  bool terminated = false;  // the direction said its last word, even if its content is not known
};

class DdpMessages {
 public:
  explicit DdpMessages(Budget& budget) : budget_(budget) {}
  ~DdpMessages() { forget_message(); }
  DdpMessages(const DdpMessages&) = delete;
  DdpMessages& operator=(const DdpMessages&) = delete;

  /// The direction is seen from its start: sequence numbers begin at 1.
  void expect_first();
  /// The first Send, without octets, is the RTR message (RFC 6581 9.2) and no upper layer's.
  void skip_ready_to_receive() { ready_to_receive_ = true; }
  Completed take(const Ulpdu& ulpdu);
  /// Segments are not known: what is unfinished stays so, and sequence numbers may be any.
  void lose();
  /// The last body is not needed any more.
  void forget_told() {
    if (!in_message_) forget_message();
  }
  bool between_messages() const { return !in_message_; }

 private:
  Completed take_send(const Ulpdu& ulpdu);
  Completed take_read_request(const Ulpdu& ulpdu);
  Completed take_terminate(const Ulpdu& ulpdu);
  std::optional<LossKind> fault_of_send(const Ulpdu& ulpdu) const;
  std::optional<LossKind> append(const Ulpdu& ulpdu);
  void forget_message();

  Budget& budget_;
  std::optional<std::uint32_t> send_msn_;  // of the next or current Send
  std::optional<std::uint32_t> read_msn_;
  bool ready_to_receive_ = false;
  bool in_message_ = false;
  bool broken_ = false;  // some of the current Send is not known; that was told
  rdma::iwarp::Opcode opcode_ = rdma::iwarp::Opcode::send;
  std::uint64_t mo_ = 0;
  Bytes message_;
};

}  // namespace steertag::capture::iwarp
