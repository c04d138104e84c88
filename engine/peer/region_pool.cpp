// The pool of registered memory.
#include "peer/region_pool.h"

#include <algorithm>

namespace steertag::peer {

PooledRegion& PooledRegion::operator=(PooledRegion&& other) noexcept {
  if (this != &other) {
    release();
    pool_ = other.pool_;
    region_ = std::move(other.region_);
  }
  return *this;
}

void PooledRegion::release() {
  if (region_) pool_->give_back(std::move(region_));
}

std::size_t RegionPool::size_for(std::size_t length) {
  const auto* size = std::lower_bound(kSizes.begin(), kSizes.end(), length);
  return size == kSizes.end() ? length : *size;
}

PooledRegion RegionPool::acquire(std::size_t length, fabric::Rights rights) {
  const std::size_t size = size_for(length);
  if (loaned_bytes_ + size > budget_bytes_) return {};
  const auto* known = std::find(kSizes.begin(), kSizes.end(), size);
  if (known != kSizes.end()) {
    auto& idle = idle_[static_cast<std::size_t>(known - kSizes.begin())];
    if (!idle.empty()) {
      std::unique_ptr<fabric::Region> region = std::move(idle.back());
      idle.pop_back();
      idle_bytes_ -= size;
      loaned_bytes_ += size;
      region->open(rights);
      return {*this, std::move(region)};
    }
  }
  // Idle regions of other sizes count against the budget too.
  for (auto& idle : idle_) {
    while (!idle.empty() && loaned_bytes_ + idle_bytes_ + size > budget_bytes_) {
      idle_bytes_ -= idle.back()->bytes().size();
      idle.pop_back();
    }
  }
  loaned_bytes_ += size;
  return {*this, domain_.allocate(size, rights)};
}

void RegionPool::give_back(std::unique_ptr<fabric::Region> region) {
  const std::size_t size = region->bytes().size();
  loaned_bytes_ -= size;
  const bool intact = region->invalidate() && region->guards_intact();
  const auto* known = std::find(kSizes.begin(), kSizes.end(), size);
  if (!intact) {
    ++damaged_;
  } else if (known != kSizes.end()) {
    // The next loan may be to somebody else.
    const MutableView octets = region->bytes();
    std::fill(octets.begin(), octets.end(), std::byte{0});
    idle_bytes_ += size;
    idle_[static_cast<std::size_t>(known - kSizes.begin())].push_back(std::move(region));
  }
}

}  // namespace steertag::peer
