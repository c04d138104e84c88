// The judge's state of one optimistic connection, and its rules (docs/direct-access.md).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>

#include "conformance/connection_state.h"
#include "conformance/direct/direct_access.h"
#include "conformance/direct/frame_check.h"
#include "trace/event.h"

namespace steertag::conformance {

/// At most this many Reads wait for their responses; our client has 16. Beyond it the connection's
/// Reads are no longer told apart.
inline constexpr std::size_t kMostOptimisticReads = 1024;

/// What an optimistic Read brought.
enum class ReadState : std::uint8_t {
  waiting,  // its response is not whole
  valid,    // the frame of a block, with a generation that was granted
  revoked,  // a frame without a generation
  torn,     // generations or check do not agree
  unknown,  // a valid frame of another generation, or octets that the capture lacks
  part,     // octets of a frame, but not all of it
  outside,  // no frame that is known to be granted
  faulted,  // the connection ended in place of an answer, or the Read alone was refused
};
inline constexpr std::size_t kReadStates = 8;
static_assert(static_cast<std::size_t>(ReadState::faulted) + 1 == kReadStates);
/// "valid", "revoked" ...
std::string_view name(ReadState state);

/// A Read of the client, for display.
struct OptimisticRead {
  std::uint64_t event = 0;  // index of its request
  std::uint32_t stag = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  ReadState state = ReadState::waiting;
  bool in_frame = false;   // the next four are known
  std::uint32_t file = 0;  // number of DirectAccess
  std::uint64_t block_offset = 0;
  std::uint32_t block_length = 0;
  std::uint64_t grant_event = 0;
};

class OptimisticConnection {
 public:
  OptimisticConnection(DirectAccess& access, Connection& connection)
      : access_(access), connection_(connection) {}

  void on_event(const trace::Event& event);
  /// Events are missing before the next one.
  void forget_history();

  const DirectAccess& access() const { return access_; }
  /// Its user; nullptr if the HELLO was not seen.
  const DirectUser* user() const { return user_.get(); }
  /// The Read that the latest event is about, or nullptr.
  const OptimisticRead* latest() const { return latest_ ? &*latest_ : nullptr; }

 private:
  struct Pending {
    OptimisticRead read;
    std::uint64_t moment = 0;
    std::uint64_t left = 0;
    bool behind_illegal = false;  // something else than a Read was sent before it
    std::uint32_t number = 0;     // of the connection's Reads, from 1 on
  };

  void on(const trace::Event& event, const trace::Connect& body);
  void on(const trace::Event& event, const trace::Accept& body);
  void on(const trace::Event& event, const trace::Send& body);
  void on(const trace::Event& event, const trace::RdmaWrite& body);
  void on(const trace::Event& event, const trace::RdmaRead& body);
  void on(const trace::Event& event, const trace::RdmaReadResponse& body);
  void on(const trace::Event& event, const trace::Terminate& body);
  void on(const trace::Event& event, const trace::Disconnect& body);
  void on(const trace::Event& event, const trace::RdmaReadRefused& body);
  template <class Other>
  void on(const trace::Event& /*event*/, const Other& /*body*/) {}

  bool is_blind() const { return lost_ || connection_.observation_lost; }
  void on_other_operation(const trace::Event& event, std::string_view what);
  void find_block(OptimisticRead& read) const;
  void finish(const trace::Event& event);
  void judge_use(const trace::Event& event, const OptimisticRead& read);
  void judge_place(const trace::Event& event, const OptimisticRead& read);
  void judge_frame(const trace::Event& event, const Pending& pending, OptimisticRead& read);
  void judge_age(const trace::Event& event, const Pending& pending, const Grant& grant);
  std::deque<Pending> fault(const trace::Event& event);
  bool is_leased(const OptimisticRead& read, std::int64_t time_ns) const;
  void judge_fault(const trace::Event& event, const trace::Terminate& terminate,
                   const std::deque<Pending>& unanswered);
  /// The same with both sides' word for recoverable refusals.
  void judge_agreed_fault(const trace::Event& event, const trace::Terminate& terminate);

  DirectAccess& access_;
  Connection& connection_;
  std::shared_ptr<DirectUser> user_;
  bool has_ticket_ = false;
  std::string_view illegal_;  // what the client sent besides Reads; empty if nothing
  std::uint64_t illegal_event_ = 0;
  bool lost_ = false;
  bool asked_recovery_ = false;  // the client's word that refusals may be recoverable
  bool recovers_ = false;        // both sides' word
  std::uint32_t read_count_ = 0;
  std::deque<Pending> reads_;
  FrameCheck frame_;  // of the first one
  std::optional<OptimisticRead> latest_;
};

}  // namespace steertag::conformance
