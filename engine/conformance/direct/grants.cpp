// Looks up references.
#include "conformance/direct/grants.h"

#include "conformance/direct/frame_check.h"

namespace steertag::conformance {

Grant* Grants::find(std::uint64_t generation) {
  const auto found = by_generation_.find(generation);
  return found == by_generation_.end() ? nullptr : &found->second;
}

Grant* Grants::at(std::uint32_t stag, std::uint64_t base) {
  const auto found = by_place_.find({stag, base});
  return found == by_place_.end() ? nullptr : find(found->second);
}

Grant* Grants::covering(std::uint32_t stag, std::uint64_t offset, std::uint64_t length) {
  auto behind = by_place_.upper_bound({stag, offset});
  if (behind == by_place_.begin()) return nullptr;
  Grant* grant = find(std::prev(behind)->second);
  if (grant == nullptr || grant->reference.stag != stag) return nullptr;
  const std::uint64_t within = offset - grant->reference.base;
  const std::uint64_t frame = grant->reference.length + kFrameBytes;
  return within <= frame && length <= frame - within ? grant : nullptr;
}

Grant* Grants::add(const Grant& grant) {
  if (by_generation_.size() == kMostGrants && !make_room()) return nullptr;
  const std::uint64_t generation = grant.reference.generation;
  const auto [added, is_new] = by_generation_.emplace(generation, grant);
  if (!is_new) return nullptr;
  const Place place{grant.reference.stag, grant.reference.base};
  const auto [earlier, is_new_place] = by_place_.emplace(place, generation);
  if (!is_new_place) may_leave(std::exchange(earlier->second, generation));
  by_file_.emplace(grant.file, generation);
  return &added->second;
}

void Grants::give_back(std::uint64_t generation) {
  Grant* grant = find(generation);
  if (grant == nullptr || grant->returned) return;
  grant->returned = true;
  may_leave(generation);
}

void Grants::may_leave(std::uint64_t generation) {
  // One that is granted and returned again and again is here more than once.
  if (leaving_.size() == 2 * kMostGrants) leaving_.pop_front();
  leaving_.push_back(generation);
}

bool Grants::make_room() {
  while (!leaving_.empty()) {
    const std::uint64_t generation = leaving_.front();
    leaving_.pop_front();
    const Grant* grant = find(generation);
    if (grant == nullptr) continue;
    const Grant* latest = at(grant->reference.stag, grant->reference.base);
    if (latest == grant && !grant->returned) continue;  // it was granted again
    erase(generation);
    return true;
  }
  return false;
}

void Grants::erase(std::uint64_t generation) {
  const Grant& grant = by_generation_.at(generation);
  const auto place = by_place_.find({grant.reference.stag, grant.reference.base});
  if (place != by_place_.end() && place->second == generation) by_place_.erase(place);
  for (auto at = by_file_.lower_bound(grant.file); at != by_file_.end(); ++at) {
    if (at->first != grant.file) break;
    if (at->second != generation) continue;
    by_file_.erase(at);
    break;
  }
  by_generation_.erase(generation);
}

}  // namespace steertag::conformance
