// The pool of registered memory.
#include "endpoint/region_pool.h"

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

std::unique_ptr<fabric::Region> RegionPool::take_idle(std::size_t size) {
  const auto* known = std::find(kSizes.begin(), kSizes.end(), size);
  if (known == kSizes.end()) return nullptr;
  auto& idle = idle_[static_cast<std::size_t>(known - kSizes.begin())];
  if (idle.empty()) return nullptr;
  std::unique_ptr<fabric::Region> region = std::move(idle.back());
  idle.pop_back();
  idle_bytes_ -= size;
  return region;
}

PooledRegion RegionPool::acquire(std::size_t length, fabric::Rights rights,
                                 fabric::Connection* window_of, Contents contents) {
  const std::size_t size = size_for(length);
  if (loaned_bytes_ + size > budget_bytes_) return {};
  std::unique_ptr<fabric::Region> region = take_idle(size);
  if (region) {
    // The loan before may have been to another connection.
    if (contents == Contents::zeros) std::ranges::fill(region->bytes(), std::byte{0});
    if (!window_of) region->open(rights, length);
  } else {
    // Idle regions of other sizes count against the budget too.
    for (auto& idle : idle_) {
      while (!idle.empty() && loaned_bytes_ + idle_bytes_ + size > budget_bytes_) {
        idle_bytes_ -= idle.back()->bytes().size();
        idle.pop_back();
      }
    }
    region = domain_.allocate(size, {});
    // The peer gets to the octets of the loan only, not to those that round it up.
    if (!window_of) region->open(rights, length);
  }
  loaned_bytes_ += size;
  PooledRegion loan(*this, std::move(region));
  if (window_of && !window_of->open_window(*loan, rights, length)) return {};
  const bool offered = rights.remote_read || rights.remote_write;
  if (offered && !loan->valid()) return {};
  return loan;
}

void RegionPool::give_back(std::unique_ptr<fabric::Region> region) {
  const std::size_t size = region->bytes().size();
  loaned_bytes_ -= size;
  const bool intact = region->invalidate() && region->guards_intact();
  const auto* known = std::find(kSizes.begin(), kSizes.end(), size);
  if (!intact) {
    ++damaged_;
  } else if (known != kSizes.end()) {
    idle_bytes_ += size;
    idle_[static_cast<std::size_t>(known - kSizes.begin())].push_back(std::move(region));
  }
}

}  // namespace steertag::peer
