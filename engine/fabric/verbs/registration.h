// Owned verbs objects of memory: protection domain, memory region, memory window.
#pragma once

#include <infiniband/verbs.h>

#include <memory>

namespace steertag::fabric::verbs {

/// Everything registered in it shares it, so it is destroyed last. Null if the device refuses.
using ProtectionDomain = std::shared_ptr<ibv_pd>;

struct DeregisterMr {
  void operator()(ibv_mr* mr) const { ibv_dereg_mr(mr); }
};

/// Memory registered with the device. Destroy it before the memory.
class Registration {
 public:
  Registration() = default;
  /// Empty on failure (errno). `access` are flags of ibv_reg_mr. With `base` the peer's address of
  /// the first octet is `base` instead of its own.
  static Registration make(const ProtectionDomain& pd, void* first, std::size_t length, int access,
                           const std::uint64_t* base = nullptr) {
    Registration made;
    if (pd) {
      made.mr_.reset(base != nullptr ? ibv_reg_mr_iova(pd.get(), first, length, *base,
                                                       static_cast<unsigned>(access))
                                     : ibv_reg_mr(pd.get(), first, length, access));
      made.pd_ = pd;
    }
    return made;
  }

  explicit operator bool() const { return mr_ != nullptr; }
  ibv_mr* get() const { return mr_.get(); }
  std::uint32_t lkey() const { return mr_->lkey; }
  std::uint32_t rkey() const { return mr_->rkey; }

 private:
  ProtectionDomain pd_;
  std::unique_ptr<ibv_mr, DeregisterMr> mr_;
};

struct DeallocateMw {
  void operator()(ibv_mw* mw) const { ibv_dealloc_mw(mw); }
};
using Window = std::unique_ptr<ibv_mw, DeallocateMw>;

}  // namespace steertag::fabric::verbs
