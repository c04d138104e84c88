// Tracks windows from their bind to their end.
#include "fabric/verbs/bound_windows.h"

#include <utility>

#include "fabric/verbs/memory_region.h"

namespace steertag::fabric::verbs {

void BoundWindows::add(VerbsRegion& region, std::uint32_t rkey) {
  regions_.insert(&region);
  binding_.insert(rkey);
}

void BoundWindows::settled(std::uint32_t rkey) {
  binding_.erase(rkey);
  parked_.erase(rkey);
}

void BoundWindows::remove(VerbsRegion& region, std::uint32_t rkey, Window window,
                          std::shared_ptr<GuardedMemory> memory) {
  regions_.erase(&region);
  if (binding_.contains(rkey)) {
    parked_[rkey] = {std::move(memory), std::move(window)};
  }
}

void BoundWindows::close_all() {
  binding_.clear();
  parked_.clear();
  while (!regions_.empty()) {
    (*regions_.begin())->invalidate();
  }
}

}  // namespace steertag::fabric::verbs
