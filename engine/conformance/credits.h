// Credit accounting of one direction, seen from outside both peers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace steertag::conformance {

/// Grants that a requester may still go by are kept in falling order; more different values than
/// this at once are merged to the requester's favour.
inline constexpr std::size_t kMostGrantLevels = 16;
/// What a grant that was not seen may have been: far above any in use.
inline constexpr std::uint32_t kMostUnseenGrant = 4096;

/// RFC 8166 3.3.1, 3.3.3. An observer does not know which replies had reached the requester when it
/// sent a call: a call is in excess only if no point in the sequence of replies would allow it.
class Credits {
 public:
  /// Before the first reply there is one credit (RFC 8166 3.3.3); `known` is false on a connection
  /// whose beginning was not seen, where the requester may go by an earlier grant.
  void start(bool known);
  void call_sent() { ++sent_; }
  void call_answered() { ++answered_; }
  /// A message with this grant was sent. A zero grant leaves the earlier one in force.
  void grant(std::uint32_t value);

  /// Whether one more call is within some grant that the requester may go by.
  bool allows_one_more() const;
  std::uint64_t in_flight() const { return sent_ - answered_; }
  /// The latest grant; for texts.
  std::uint32_t latest() const { return count_ == 0 ? 0 : levels_[count_ - 1].grant; }
  bool granted() const { return granted_; }

 private:
  void forget_spent();

  struct Level {
    std::uint64_t answered = 0;  // replies up to the one that carried the grant
    std::uint32_t grant = 0;
  };
  std::array<Level, kMostGrantLevels> levels_{};  // oldest first, grants fall
  std::size_t count_ = 0;
  bool known_ = false;
  bool granted_ = false;
  std::uint64_t sent_ = 0;
  std::uint64_t answered_ = 0;
};

}  // namespace steertag::conformance
