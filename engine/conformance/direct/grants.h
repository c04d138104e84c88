// The references that one user of direct access was granted, by generation, place and block.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "nfs/direct/messages.h"

namespace steertag::conformance {

/// At most this many references of one user. Those that were given back make room, and those whose
/// frame was granted again. Beyond that, new ones are not kept, and absence proves nothing. A
/// server has 512 of a user at a time.
inline constexpr std::size_t kMostGrants = 4096;

struct Grant {
  direct::Reference reference;
  std::uint32_t file = 0;          // number of DirectAccess
  std::uint64_t event = 0;         // index of the first reply with it
  std::uint64_t first = 0;         // moment of DirectAccess at that reply
  std::int64_t granted_ns = 0;     // time of the latest reply with it
  bool returning = false;          // RETURN of it was called
  bool returned = false;           // RETURN of it was answered
  std::uint64_t changed = 0;       // moment of the reply to a change of its block; 0: none was seen
  std::uint64_t change_event = 0;  // index of that reply
  std::uint64_t denied = 0;        // the same of a change of who may read
  std::uint64_t denial_event = 0;
  /// Index of the DELEGRETURN, after a recall, behind which the user may not use it.
  std::optional<std::uint64_t> given_up;
};

class Grants {
 public:
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // STag and base

  Grant* find(std::uint64_t generation);
  /// The latest grant at this place, or nullptr.
  Grant* at(std::uint32_t stag, std::uint64_t base);
  /// The latest grant whose frame has all of these octets, or nullptr.
  Grant* covering(std::uint32_t stag, std::uint64_t offset, std::uint64_t length);
  /// Adds one whose generation is new. Returns nullptr if there is no room.
  Grant* add(const Grant& grant);
  void give_back(std::uint64_t generation);
  std::size_t size() const { return by_generation_.size(); }

  /// Calls `visit(Grant&)` for each one of a file.
  template <class Visit>
  void each_of(std::uint32_t file, Visit visit) {
    for (auto at = by_file_.lower_bound(file); at != by_file_.end() && at->first == file; ++at) {
      if (Grant* grant = find(at->second)) visit(*grant);
    }
  }
  /// How many places with a grant there are for which `counts(const Grant&)`.
  template <class Counts>
  std::size_t places(Counts counts) {
    std::size_t count = 0;
    for (const auto& [place, generation] : by_place_) {
      const Grant* grant = find(generation);
      if (grant != nullptr && counts(*grant)) ++count;
    }
    return count;
  }

 private:
  void may_leave(std::uint64_t generation);
  bool make_room();
  void erase(std::uint64_t generation);

  std::unordered_map<std::uint64_t, Grant> by_generation_;
  std::map<Place, std::uint64_t> by_place_;
  std::multimap<std::uint32_t, std::uint64_t> by_file_;
  std::deque<std::uint64_t> leaving_;  // those that may make room, oldest first
};

}  // namespace steertag::conformance
