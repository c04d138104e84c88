// Observers of a domain's memory.
#include "fabric/observed_memory.h"

namespace steertag::fabric {

void ObservedMemory::add(MemoryObserver& observer) {
  observers_.push_back(&observer);
  notify_open(observer);
}

void ObservedMemory::remove(MemoryObserver& observer) {
  std::erase(observers_, &observer);
}

void ObservedMemory::notify_offered(const Region& region, std::size_t open_length) const {
  for (MemoryObserver* observer : observers_) {
    notify_offered(*observer, region, open_length);
  }
}

void ObservedMemory::notify_offered(MemoryObserver& observer, const Region& region,
                                    std::size_t open_length) {
  const Rights rights = region.rights();
  observer.on_offered(
      {region.stag(), region.base(), open_length, rights.remote_read, rights.remote_write});
}

void ObservedMemory::notify_invalidated(std::uint32_t stag, bool guard_intact) const {
  for (MemoryObserver* observer : observers_) {
    observer->on_invalidated({stag, guard_intact});
  }
}

}  // namespace steertag::fabric
