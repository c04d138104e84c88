// Counts startups by source, and refuses some.
#include "fabric/iwarp/startup_quota.h"

#include <utility>

namespace steertag::fabric::iwarp {

Expected<StartupQuota::Slot, StartupQuota::Refusal> StartupQuota::admit(const Address& peer) {
  const Source source(peer);
  const auto found = counts_.find(source);
  if (found != counts_.end() && found->second.startups >= limits_.of_source)
    return refuse(found->second, source.text() + " has " + std::to_string(limits_.of_source) +
                                     ", as many as one source may have");
  if (drops_early())
    return refuse(all_, "all sources have " + std::to_string(all_.startups) + "; from " +
                            std::to_string(limits_.early_drop) +
                            " on some are refused at random, " + "and from " +
                            std::to_string(limits_.most) + " on all");
  auto& count = *counts_.try_emplace(source).first;
  ++count.second.startups;
  ++all_.startups;
  return Slot(&count, GiveBack{this});
}

Unexpected<StartupQuota::Refusal> StartupQuota::refuse(Count& count, std::string reason) {
  const bool begins_burst = !std::exchange(count.in_burst, true);
  return Unexpected<Refusal>(Refusal{std::move(reason), begins_burst});
}

// The probability rises evenly, from 0 at the mark to 1 at the limit.
bool StartupQuota::drops_early() {
  if (all_.startups >= limits_.most) return true;
  if (all_.startups <= limits_.early_drop) return false;
  return random_() % (limits_.most - limits_.early_drop) < all_.startups - limits_.early_drop;
}

void StartupQuota::give_back(Counts::value_type& source) {
  Count& count = source.second;
  if (--count.startups <= limits_.of_source / 2) count.in_burst = false;
  if (--all_.startups <= limits_.early_drop / 2) all_.in_burst = false;
  if (count.startups == 0) counts_.erase(Source(source.first));
}

}  // namespace steertag::fabric::iwarp
