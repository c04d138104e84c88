// Life of regions: opening with a random STag, and closing.
#include "fabric/software/memory_region.h"

#include <algorithm>
#include <utility>

namespace steertag::fabric::software {

SoftwareRegion* StagTable::find(std::uint32_t stag) const {
  const auto entry = map_.find(stag);
  return entry == map_.end() ? nullptr : entry->second;
}

std::uint32_t StagTable::fresh_stag() const {
  // With a good source two attempts are rare. The limit ends the loop with a bad one, and then the
  // next free number is taken.
  constexpr int kMostTries = 64;
  std::uint32_t stag = 0;
  for (int i = 0; i < kMostTries; ++i) {
    stag = static_cast<std::uint32_t>(random_());
    if (is_free(stag)) {
      return stag;
    }
  }
  do {
    ++stag;
  } while (!is_free(stag));
  return stag;
}

SoftwareRegion::SoftwareRegion(SoftwareDomain& domain, std::size_t length, Rights rights,
                               std::optional<std::uint64_t> base, std::optional<std::uint32_t> stag)
    : RegisteredRegion(domain, length, rights),
      domain_(domain),
      length_(length),
      memory_(std::make_shared<std::byte[]>(length + 2 * kGuardBytes)) {
  enter(base, stag);
}

SoftwareRegion::~SoftwareRegion() {
  invalidate();
}

void SoftwareRegion::enter(std::optional<std::uint64_t> base, std::optional<std::uint32_t> stag) {
  StagTable& table = domain_.table_;
  fill_guards(first(), length_);
  stag_ = stag && table.is_free(*stag) ? *stag : table.fresh_stag();
  // Half of the range keeps base + length from wrapping; multiples of 8 look like addresses.
  base_ = base.value_or((table.random() >> 1) & ~std::uint64_t{7});
  valid_ = true;
  if (node_.empty()) {
    table.map_.emplace(stag_, this);
  } else {
    node_.key() = stag_;
    table.map_.insert(std::move(node_));
  }
  if (remotely_open()) {
    domain_.notify_offered(*this);
  }
}

bool SoftwareRegion::invalidate() {
  const bool intact = guards_intact();
  if (valid_) {
    const bool was_open = remotely_open();
    valid_ = false;
    node_ = domain_.table_.map_.extract(stag_);
    if (windows_ != nullptr) {
      std::exchange(windows_, nullptr)->regions_.erase(this);
    }
    if (was_open) {
      domain_.notify_invalidated(stag_, intact);
    }
  }
  return intact;
}

void SoftwareRegion::open(Rights rights, std::size_t length) {
  reopen(nullptr, rights, length);
}

void SoftwareRegion::open_window(Windows& windows, Rights rights, std::size_t length) {
  reopen(&windows, rights, length);
}

void SoftwareRegion::reopen(Windows* windows, Rights rights, std::size_t length) {
  invalidate();
  windows_ = windows;
  if (windows_ != nullptr) {
    windows_->regions_.insert(this);
  }
  rights_ = rights;
  open_length_ = std::min(length, length_);
  enter();
}

bool SoftwareRegion::contains(std::uint64_t offset, std::uint64_t length) const {
  return offset >= base_ && length <= open_length_ && offset - base_ <= open_length_ - length;
}

void Windows::close_all() {
  while (!regions_.empty()) {
    (*regions_.begin())->invalidate();
  }
}

std::unique_ptr<Region> SoftwareDomain::allocate(std::size_t length, Rights rights,
                                                 std::optional<std::uint64_t> base,
                                                 std::optional<std::uint32_t> stag) {
  return std::make_unique<SoftwareRegion>(*this, length, rights, base, stag);
}

Expected<SoftwareDomain*, Error> domain_of(const StagTable& table, Domain& domain) {
  auto* ours = dynamic_cast<SoftwareDomain*>(&domain);
  if (ours == nullptr || &ours->table() != &table) {
    return tl::unexpected(Error{Errc::bad_region, "the domain belongs to another provider"});
  }
  return ours;
}

}  // namespace steertag::fabric::software
