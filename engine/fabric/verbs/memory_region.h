// Memory of the verbs provider: guarded regions, and their domain.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>

#include "fabric/fabric.h"
#include "fabric/provider/observed_memory.h"
#include "fabric/verbs/bound_windows.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/registration.h"
#include "fabric/verbs/staging.h"

namespace steertag::fabric::verbs {

class VerbsDomain;
class VerbsRegion;

/// Octets between guards, and their registration for our own use. A region and the operations that
/// still use them share it.
class GuardedMemory {
 public:
  /// The kernel maps whole pages to tagged offsets. Memory with offsets from `base` on must have
  /// the same offset in its page.
  GuardedMemory(ProtectionDomain pd, std::size_t length, std::optional<std::uint64_t> base);

  std::byte* first() const { return first_; }
  std::size_t length() const { return length_; }
  const ProtectionDomain& pd() const { return pd_; }
  void fill_guards() { fabric::fill_guards(first_, length_); }
  bool guards_intact() const { return fabric::guards_intact(first_, length_); }
  /// Registered at the first use; null if the device refuses (errno).
  ibv_mr* local();

 private:
  ProtectionDomain pd_;
  std::size_t length_;
  std::unique_ptr<std::byte[]> octets_;
  std::byte* first_;
  Registration local_;
};

class VerbsRegion final : public RegisteredRegion {
 public:
  VerbsRegion(VerbsDomain& domain, std::size_t length, Rights rights,
              std::optional<std::uint64_t> base);
  ~VerbsRegion() override;

  MutableView bytes() override { return {memory_->first(), memory_->length()}; }
  bool invalidate() override;
  using Region::open;
  void open(Rights rights, std::size_t length) override;
  bool guards_intact() const override { return memory_->guards_intact(); }

  /// The bind request for the window of `make_window`.
  struct Bind {
    ibv_mw* window = nullptr;
    ibv_mr* of = nullptr;
    std::uint32_t rkey = 0;
    unsigned access = 0;
    std::size_t length = 0;
  };
  /// Opens the first `length` octets as a type 2 window that `bound` keeps. Nothing if the device
  /// refuses (errno).
  std::optional<Bind> make_window(Rights rights, std::size_t length, BoundWindows& bound);

  std::size_t length() const { return memory_->length(); }
  VerbsDomain& domain() const { return domain_; }
  const std::shared_ptr<GuardedMemory>& memory() const { return memory_; }

 private:
  void enter(std::optional<std::uint64_t> base);
  void entered();

  VerbsDomain& domain_;
  std::shared_ptr<GuardedMemory> memory_;
  Registration remote_;
  Window window_;
  BoundWindows* bound_ = nullptr;
};

class VerbsDomain final : public Domain, public ObservedMemory {
 public:
  explicit VerbsDomain(const Device& device);
  /// A region that the device cannot register is invalid, and has STag 0.
  std::unique_ptr<Region> allocate(std::size_t length, Rights rights,
                                   std::optional<std::uint64_t> base = {},
                                   std::optional<std::uint32_t> stag = {}) override;

  const Device& device() const { return device_; }
  const ProtectionDomain& pd() const { return pd_; }
  Staging& staging() { return staging_; }
  /// The open region of that STag, or null.
  VerbsRegion* find(std::uint32_t stag) const;
  /// The region that holds all of `octets`, or null.
  VerbsRegion* around(View octets) const;

 private:
  friend class VerbsRegion;

  const Device& device_;
  ProtectionDomain pd_;
  Staging staging_;
  std::map<const std::byte*, VerbsRegion*> by_address_;
  std::unordered_map<std::uint32_t, VerbsRegion*> by_stag_;
};

}  // namespace steertag::fabric::verbs
