// Registered memory for small messages from unregistered memory.
//
// A copy costs less than registering them for one operation.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "fabric/verbs/registration.h"
#include "support/bytes.h"

namespace steertag::fabric::verbs {

/// Larger messages are registered for their operation instead of being copied.
inline constexpr std::size_t kMostStagedBytes = 64 * 1024;

/// Grows with use and keeps its memory. Must outlive its slots.
class Staging {
 public:
  explicit Staging(ProtectionDomain pd) : pd_(std::move(pd)) {}

  /// A piece of registered memory on loan.
  class Slot {
   public:
    Slot() = default;
    Slot(Slot&& other) noexcept { swap(other); }
    Slot& operator=(Slot&& other) noexcept {
      swap(other);
      return *this;
    }
    ~Slot();
    explicit operator bool() const { return staging_ != nullptr; }
    std::byte* first() const { return first_; }
    std::uint32_t lkey() const { return lkey_; }

   private:
    friend class Staging;
    void swap(Slot& other);
    Staging* staging_ = nullptr;
    std::byte* first_ = nullptr;
    std::uint32_t lkey_ = 0;
    std::size_t size_class_ = 0;
  };

  /// A slot of at least `length` octets, at most kMostStagedBytes. Empty if the device registers no
  /// more.
  Slot take(std::size_t length);

 private:
  // Slots have 256, 512 ... 65536 octets.
  static constexpr std::size_t kSmallest = 256;
  static constexpr std::size_t kClasses = 9;
  static_assert(kSmallest << (kClasses - 1) == kMostStagedBytes);
  // Registered at a time; a multiple of every slot.
  static constexpr std::size_t kSlabBytes = 256 * 1024;

  struct Free {
    std::byte* first;
    std::uint32_t lkey;
  };
  struct Slab {
    std::unique_ptr<std::byte[]> memory;
    Registration registration;
  };
  bool grow(std::size_t size_class);

  ProtectionDomain pd_;
  std::vector<Slab> slabs_;
  std::array<std::vector<Free>, kClasses> free_;
};

}  // namespace steertag::fabric::verbs
