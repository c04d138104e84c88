// The slots of a hash table: pool indices, of which a 32-bit key has its first place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace steertag::conformance {

/// A power of two of slots, none before the first `grow`. How keys share a place is the table's.
class Slots {
 public:
  static constexpr std::uint32_t kFree = 0xffffffff;

  std::size_t size() const { return indices_.size(); }
  bool empty() const { return indices_.empty(); }
  std::uint32_t& operator[](std::size_t slot) { return indices_[slot]; }
  std::uint32_t operator[](std::size_t slot) const { return indices_[slot]; }

  /// Fibonacci hashing: keys that differ in few bits only are spread too.
  std::size_t home(std::uint32_t key) const {
    constexpr std::uint32_t kGoldenRatio = 0x9e3779b1;
    const std::uint32_t mixed = key * kGoldenRatio;
    return around(mixed ^ (mixed >> 15));
  }
  /// A slot counted from the first one, again from there behind the last one.
  std::size_t around(std::size_t slot) const { return slot & (indices_.size() - 1); }

  /// Doubles the slots and frees them all; what they held is to be put in anew.
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
