// Observers of a domain's memory.
#include "fabric/provider/observed_memory.h"

namespace steertag::fabric {
namespace {

void notify(MemoryObserver& observer, const RegisteredRegion& region) {
  const Rights rights = region.rights();
  observer.on_offered({region.stag(), region.base(), region.open_length(), rights.remote_read,
                       rights.remote_write});
}

}  // namespace

void ObservedMemory::add(MemoryObserver& observer) {
  observers_.push_back(&observer);
  for (const RegisteredRegion* region : regions_) {
    if (region->remotely_open()) {
      notify(observer, *region);
    }
  }
}

void ObservedMemory::remove(MemoryObserver& observer) {
  std::erase(observers_, &observer);
}

void ObservedMemory::notify_offered(const RegisteredRegion& region) const {
  for (MemoryObserver* observer : observers_) {
    notify(*observer, region);
  }
}

void ObservedMemory::notify_invalidated(std::uint32_t stag, bool guard_intact) const {
  for (MemoryObserver* observer : observers_) {
    observer->on_invalidated({stag, guard_intact});
  }
}

}  // namespace steertag::fabric
