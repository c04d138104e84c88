// Credit accounting of one direction, as an observer between the peers sees it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace steertag::conformance {

/// The grants that a requester may still use are kept in descending order. More than this many
/// different values are merged in the requester's favour.
inline constexpr std::size_t kMostGrantLevels = 16;
/// The highest possible value of an unseen grant: far above any in use.
inline constexpr std::uint32_t kMostUnseenGrant = 4096;

/// RFC 8166 3.3.1, 3.3.3. An observer does not know which replies the requester had received when
/// it sent a call. A call is in excess only if no possible point in the sequence of replies allows
/// it.
class Credits {
 public:
  /// Before the first reply there is one credit (RFC 8166 3.3.3). `known` is false on a joined
  /// connection, where the requester may use an earlier grant.
  void start(bool known);
  void call_sent() { ++sent_; }
  void call_answered() { ++answered_; }
  /// A message with this grant was sent. A zero grant leaves the previous one in force.
  void grant(std::uint32_t value);

  /// Whether some grant that the requester may use allows one more call.
  bool allows_one_more() const;
  std::uint64_t in_flight() const { return sent_ - answered_; }
  /// The latest grant, for texts.
  std::uint32_t latest() const { return count_ == 0 ? 0 : levels_[count_ - 1].grant; }
  bool granted() const { return granted_; }

 private:
  void forget_spent();

  struct Level {
    std::uint64_t answered = 0;  // replies up to and including the one with the grant
    std::uint32_t grant = 0;
  };
  std::array<Level, kMostGrantLevels> levels_{};  // oldest first; grants descend
  std::size_t count_ = 0;
  bool known_ = false;
  bool granted_ = false;
  std::uint64_t sent_ = 0;
  std::uint64_t answered_ = 0;
};

}  // namespace steertag::conformance
