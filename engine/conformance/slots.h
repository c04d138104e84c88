// The slots of a hash table: pool indices, found by a 32-bit key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace steertag::conformance {

/// The number of slots is a power of two, or zero before the first `grow`. The table resolves
/// collisions.
class Slots {
 public:
  static constexpr std::uint32_t kFree = 0xffffffff;

  std::size_t size() const { return indices_.size(); }
  bool empty() const { return indices_.empty(); }
  std::uint32_t& operator[](std::size_t slot) { return indices_[slot]; }
  std::uint32_t operator[](std::size_t slot) const { return indices_[slot]; }

  /// Fibonacci hashing: also spreads keys that differ in few bits.
  std::size_t home(std::uint32_t key) const {
    constexpr std::uint32_t kGoldenRatio = 0x9e3779b1;
    const std::uint32_t mixed = key * kGoldenRatio;
    return around(mixed ^ (mixed >> 15));
  }
  /// A slot index modulo the number of slots.
  std::size_t around(std::size_t slot) const { return slot & (indices_.size() - 1); }

  /// Doubles and clears the slots. Returns the old ones, which the caller inserts again.
  std::vector<std::uint32_t> grow() {
    constexpr std::size_t kFirstSlots = 256;
    std::vector<std::uint32_t> old(empty() ? kFirstSlots : size() * 2, kFree);
    old.swap(indices_);
    return old;
  }

 private:
  std::vector<std::uint32_t> indices_;
};

}  // namespace steertag::conformance
