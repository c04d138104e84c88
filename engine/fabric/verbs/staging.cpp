// Slots of registered slabs, with a free list for each size.
#include "fabric/verbs/staging.h"

#include <utility>

namespace steertag::fabric::verbs {

Staging::Slot::~Slot() {
  if (staging_ != nullptr) {
    staging_->free_[size_class_].push_back({first_, lkey_});
  }
}

void Staging::Slot::swap(Slot& other) {
  std::swap(staging_, other.staging_);
  std::swap(first_, other.first_);
  std::swap(lkey_, other.lkey_);
  std::swap(size_class_, other.size_class_);
}

Staging::Slot Staging::take(std::size_t length) {
  std::size_t size_class = 0;
  while (kSmallest << size_class < length) {
    ++size_class;
  }
  Slot slot;
  auto& free = free_[size_class];
  if (!free.empty() || grow(size_class)) {
    slot.staging_ = this;
    slot.first_ = free.back().first;
    slot.lkey_ = free.back().lkey;
    slot.size_class_ = size_class;
    free.pop_back();
  }
  return slot;
}

bool Staging::grow(std::size_t size_class) {
  Slab slab;
  slab.memory = std::make_unique<std::byte[]>(kSlabBytes);
  slab.registration =
      Registration::make(pd_, slab.memory.get(), kSlabBytes, IBV_ACCESS_LOCAL_WRITE);
  if (!slab.registration) {
    return false;
  }
  const std::size_t slot_bytes = kSmallest << size_class;
  for (std::size_t offset = 0; offset < kSlabBytes; offset += slot_bytes) {
    free_[size_class].push_back({slab.memory.get() + offset, slab.registration.lkey()});
  }
  slabs_.push_back(std::move(slab));
  return true;
}

}  // namespace steertag::fabric::verbs
