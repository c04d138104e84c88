// Life of regions: registration and windows.
#include "fabric/verbs/memory_region.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace steertag::fabric::verbs {
namespace {

// ibv_reg_mr refuses length 0. An empty region registers one octet of its guard, for local use
// only. An access of length 0 reads and writes no octets, and any other is refused.
constexpr std::size_t kLeastRegistered = 1;

int access_flags(std::size_t length, Rights rights) {
  int access = IBV_ACCESS_LOCAL_WRITE;
  if (length > 0) {
    access |= rights.remote_read ? IBV_ACCESS_REMOTE_READ : 0;
    access |= rights.remote_write ? IBV_ACCESS_REMOTE_WRITE : 0;
  }
  return access;
}

std::uint64_t address_of(const std::byte* octet) {
  return reinterpret_cast<std::uintptr_t>(octet);
}

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

GuardedMemory::GuardedMemory(ProtectionDomain pd, std::size_t length,
                             std::optional<std::uint64_t> base)
    : pd_(std::move(pd)),
      length_(length),
      octets_(std::make_unique<std::byte[]>(length + 2 * kGuardBytes + (base ? page_size() : 0))),
      first_(octets_.get() + kGuardBytes) {
  if (base) {
    first_ += (*base - address_of(first_)) % page_size();
  }
}

ibv_mr* GuardedMemory::local() {
  if (!local_) {
    // Devices without windows refuse IBV_ACCESS_MW_BIND, and never bind one.
    const std::size_t length = std::max(length_, kLeastRegistered);
    local_ = Registration::make(pd_, first(), length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    if (!local_) {
      local_ = Registration::make(pd_, first(), length, IBV_ACCESS_LOCAL_WRITE);
    }
  }
  return local_.get();
}

VerbsRegion::VerbsRegion(VerbsDomain& domain, std::size_t length, Rights rights,
                         std::optional<std::uint64_t> base)
    : RegisteredRegion(domain, length, rights),
      domain_(domain),
      memory_(std::make_shared<GuardedMemory>(domain.pd(), length, base)) {
  domain_.by_address_.emplace(memory_->first(), this);
  enter(base);
}

VerbsRegion::~VerbsRegion() {
  invalidate();
  domain_.by_address_.erase(memory_->first());
}

void VerbsRegion::enter(std::optional<std::uint64_t> base) {
  memory_->fill_guards();
  // Over InfiniBand and RoCE the device maps tagged offsets; iWARP devices need not.
  const std::uint64_t* chosen = base && !domain_.device().iwarp() ? &*base : nullptr;
  remote_ =
      Registration::make(memory_->pd(), memory_->first(), std::max(open_length_, kLeastRegistered),
                         access_flags(open_length_, rights_), chosen);
  stag_ = remote_ ? remote_.rkey() : 0;
  base_ = chosen != nullptr ? *chosen : address_of(memory_->first());
  if (remote_) {
    entered();
  }
}

void VerbsRegion::entered() {
  valid_ = true;
  domain_.by_stag_[stag_] = this;
  if (remotely_open()) {
    domain_.notify_offered(*this);
  }
}

bool VerbsRegion::invalidate() {
  const bool was_open = remotely_open();
  if (valid_) {
    valid_ = false;
    domain_.by_stag_.erase(stag_);
  }
  remote_ = {};
  if (bound_ != nullptr) {
    std::exchange(bound_, nullptr)->remove(*this, stag_, std::move(window_), memory_);
  }
  // Checked when the device can no longer write.
  const bool intact = guards_intact();
  if (was_open) {
    domain_.notify_invalidated(stag_, intact);
  }
  return intact;
}

void VerbsRegion::open(Rights rights, std::size_t length) {
  invalidate();
  rights_ = rights;
  open_length_ = std::min(length, memory_->length());
  enter({});
}

std::optional<VerbsRegion::Bind> VerbsRegion::make_window(Rights rights, std::size_t length,
                                                          BoundWindows& bound) {
  invalidate();
  rights_ = rights;
  open_length_ = std::min(length, memory_->length());
  memory_->fill_guards();
  Bind bind;
  bind.of = memory_->local();
  if (bind.of == nullptr) {
    return std::nullopt;
  }
  window_.reset(ibv_alloc_mw(memory_->pd().get(), IBV_MW_TYPE_2));
  if (!window_) {
    return std::nullopt;
  }
  bind.window = window_.get();
  bind.rkey = ibv_inc_rkey(window_->rkey);
  bind.access = (rights.remote_read ? unsigned{IBV_ACCESS_REMOTE_READ} : 0U) |
                (rights.remote_write ? unsigned{IBV_ACCESS_REMOTE_WRITE} : 0U);
  bind.length = open_length_;
  bound_ = &bound;
  bound.add(*this, bind.rkey);
  stag_ = bind.rkey;
  base_ = address_of(memory_->first());
  entered();
  return bind;
}

VerbsDomain::VerbsDomain(const Device& device)
    : device_(device),
      pd_(ibv_alloc_pd(device.context()),
          [](ibv_pd* pd) {
            if (pd != nullptr) {
              ibv_dealloc_pd(pd);
            }
          }),
      staging_(pd_) {}

std::unique_ptr<Region> VerbsDomain::allocate(std::size_t length, Rights rights,
                                              std::optional<std::uint64_t> base,
                                              std::optional<std::uint32_t> /*stag*/) {
  return std::make_unique<VerbsRegion>(*this, length, rights, base);
}

VerbsRegion* VerbsDomain::find(std::uint32_t stag) const {
  const auto found = by_stag_.find(stag);
  return found == by_stag_.end() ? nullptr : found->second;
}

VerbsRegion* VerbsDomain::around(View octets) const {
  const auto after = by_address_.upper_bound(octets.data());
  if (after == by_address_.begin()) {
    return nullptr;
  }
  VerbsRegion* const region = std::prev(after)->second;
  const auto offset = static_cast<std::size_t>(octets.data() - region->memory()->first());
  const bool inside = offset <= region->length() && octets.size() <= region->length() - offset;
  return inside ? region : nullptr;
}

}  // namespace steertag::fabric::verbs
