// Counts what each source holds, and refuses some.
#include "net/source_quota.h"

#include <utility>

namespace steertag::net {

Expected<SourceQuota::Slot, SourceQuota::Refusal> SourceQuota::admit(const Address& peer) {
  const Source source(peer);
  const auto found = counts_.find(source);
  if (found != counts_.end() && found->second.held >= limits_.of_source)
    return refuse(found->second, source.text() + " has " + std::to_string(limits_.of_source) +
                                     ", as many as one source may have");
  if (drops_early()) return refuse(all_, reason_of_all());
  auto& count = *counts_.try_emplace(source).first;
  ++count.second.held;
  ++all_.held;
  return Slot(&count, GiveBack{this});
}

Unexpected<SourceQuota::Refusal> SourceQuota::refuse(Count& count, std::string reason) {
  const bool begins_burst = !std::exchange(count.in_burst, true);
  return Unexpected<Refusal>(Refusal{std::move(reason), begins_burst});
}

std::string SourceQuota::reason_of_all() const {
  const std::string all = "all sources have " + std::to_string(all_.held);
  if (limits_.early_drop >= limits_.most) return all + ", as many as they may have together";
  return all + "; from " + std::to_string(limits_.early_drop) +
         " on some are refused at random, and from " + std::to_string(limits_.most) + " on all";
}

// The probability rises evenly, from 0 at the mark to 1 at the limit.
bool SourceQuota::drops_early() {
  if (all_.held >= limits_.most) return true;
  if (all_.held <= limits_.early_drop) return false;
  return random_() % (limits_.most - limits_.early_drop) < all_.held - limits_.early_drop;
}

void SourceQuota::give_back(Counts::value_type& source) {
  Count& count = source.second;
  if (--count.held <= limits_.of_source / 2) count.in_burst = false;
  if (--all_.held <= limits_.early_drop / 2) all_.in_burst = false;
  if (count.held == 0) counts_.erase(Source(source.first));
}

}  // namespace steertag::net
