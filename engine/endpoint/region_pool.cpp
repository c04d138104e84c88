// The pool of registered memory.
#include "endpoint/region_pool.h"

#include <algorithm>

namespace steertag::peer {

PooledRegion& PooledRegion::operator=(PooledRegion&& other) noexcept {
  if (this != &other) {
    release();
    pool_ = other.pool_;
    region_ = std::move(other.region_);
    length_ = other.length_;
    registration_ = other.registration_;
  }
  return *this;
}

void PooledRegion::release() {
  if (region_) pool_->give_back(std::move(region_), length_, registration_);
}

std::size_t RegionPool::size_for(std::size_t length) {
  const auto* size = std::lower_bound(kSizes.begin(), kSizes.end(), length);
  return size == kSizes.end() ? length : *size;
}

std::vector<RegionPool::Held>* RegionPool::idle_of(std::size_t size) {
  const auto* known = std::find(kSizes.begin(), kSizes.end(), size);
  return known == kSizes.end() ? nullptr : &idle_[static_cast<std::size_t>(known - kSizes.begin())];
}

RegionPool::Held RegionPool::take_open(std::size_t length, fabric::Rights rights) {
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const OpenRegion& open) {
    const bool fits = policy_.compares_length ? open.length == length : open.length >= length;
    return fits && open.region->valid() && open.region->rights() == rights;
  });
  if (found == open_.rend()) return nullptr;
  Held region = std::move(found->region);
  open_.erase(std::next(found).base());
  idle_bytes_ -= region->bytes().size();
  return region;
}

RegionPool::Held RegionPool::take_idle(std::size_t size) {
  std::vector<Held>* const idle = idle_of(size);
  if (!idle) return nullptr;
  if (idle->empty()) {
    // Memory of this size that has been open for something else.
    const auto open = std::find_if(open_.begin(), open_.end(), [&](const OpenRegion& each) {
      return each.region->bytes().size() == size;
    });
    if (open != open_.end()) close(open);
  }
  if (idle->empty()) return nullptr;
  Held region = std::move(idle->back());
  idle->pop_back();
  idle_bytes_ -= size;
  return region;
}

void RegionPool::close(OpenRegions::iterator open) {
  Held region = std::move(open->region);
  open_.erase(open);
  idle_bytes_ -= region->bytes().size();
  if (policy_.closes_reused) return keep_idle(std::move(region));
  left_open_.push_back(std::move(region));
  if (left_open_.size() > kMostOpenRegions) left_open_.pop_front();
}

void RegionPool::close_idle() {
  while (!open_.empty()) close(open_.begin());
}

void RegionPool::make_room(std::size_t size) {
  const auto is_full = [&] { return loaned_bytes_ + idle_bytes_ + size > budget_bytes_; };
  for (auto& idle : idle_) {
    while (!idle.empty() && is_full()) {
      idle_bytes_ -= idle.back()->bytes().size();
      idle.pop_back();
    }
  }
  while (!open_.empty() && is_full()) {
    idle_bytes_ -= open_.front().region->bytes().size();
    open_.pop_front();
  }
}

PooledRegion RegionPool::acquire(std::size_t length, fabric::Rights rights,
                                 fabric::Connection* window_of, Contents contents,
                                 Registration registration) {
  const std::size_t size = size_for(length);
  if (loaned_bytes_ + size > budget_bytes_) return {};
  if (window_of) registration = Registration::each;
  Held region = registration == Registration::cached ? take_open(length, rights) : nullptr;
  const bool is_open = region != nullptr;
  if (!region) region = take_idle(size);
  if (region) {
    // The loan before may have been to another connection.
    if (contents == Contents::zeros) std::ranges::fill(region->bytes(), std::byte{0});
  } else {
    // Idle regions of other sizes count against the budget too.
    make_room(size);
    region = domain_.allocate(size, {});
  }
  // The peer gets to the octets of the loan only, not to those that round it up.
  if (!window_of && !is_open) region->open(rights, length);
  loaned_bytes_ += size;
  PooledRegion loan(*this, std::move(region), length, registration);
  if (window_of && !window_of->open_window(*loan, rights, length)) return {};
  const bool offered = rights.remote_read || rights.remote_write;
  if (offered && !loan->valid()) return {};
  return loan;
}

void RegionPool::give_back(Held region, std::size_t length, Registration registration) {
  const std::size_t size = region->bytes().size();
  loaned_bytes_ -= size;
  const bool stays_open = registration == Registration::cached && region->valid() &&
                          region->guards_intact() && idle_of(size);
  if (!stays_open) return keep_idle(std::move(region));
  idle_bytes_ += size;
  open_.push_back({std::move(region), length});
  if (open_.size() > kMostOpenRegions) close(open_.begin());
}

void RegionPool::keep_idle(Held region) {
  const std::size_t size = region->bytes().size();
  const bool intact = region->invalidate() && region->guards_intact();
  std::vector<Held>* const idle = idle_of(size);
  if (!intact) {
    ++damaged_;
  } else if (idle) {
    idle_bytes_ += size;
    idle->push_back(std::move(region));
  }
}

}  // namespace steertag::peer
