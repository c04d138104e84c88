// The wait for octets of those who hold memory.
#include "server/rdma/pull_holders.h"

#include <algorithm>

namespace steertag::peer {

void PullHolders::add(PullHolder& holder) {
  holder.place_ = holders_.size();
  holders_.push_back(&holder);
  note_whole(holder);
}

void PullHolders::remove(PullHolder& holder) {
  holders_.back()->place_ = holder.place_;
  holders_[holder.place_] = holders_.back();
  holders_.pop_back();
}

void PullHolders::note_whole(PullHolder& holder) {
  holder.delivered_before_ = holder.delivered_octets();
  holder.still_for_ = {};
}

void PullHolders::watch(std::chrono::steady_clock::time_point now, Shortage shortage) {
  if (now - watched_ < kHolderWatchInterval) return;
  const auto step = std::min<std::chrono::steady_clock::duration>(now - watched_, kMostWatchStep);
  watched_ = now;
  // From the end: who is dropped may leave, and then the last takes its place.
  for (std::size_t i = holders_.size(); i-- > 0;) {
    PullHolder& holder = *holders_[i];
    if (!holder.awaits_client() ||
        holder.delivered_octets() - holder.delivered_before_ >= kLeastProgressBytes) {
      note_whole(holder);
      continue;
    }
    holder.still_for_ += step;
    const bool wanted = shortage == Shortage::of_all ||
                        (shortage == Shortage::of_unproven && holder.holds_unproven());
    if (wanted && holder.still_for_ >= kContendedWait) holder.drop_stalled();
  }
}

}  // namespace steertag::peer
