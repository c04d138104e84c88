// Variable-length opaque data that is stored by value.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "support/bytes.h"

namespace steertag::rpc {

/// An opaque type of at most `kMost` octets that stores them (see Holder), so that it outlives the
/// message. The capacity exceeds the protocol's limit, because cases send longer values. Decoding
/// accepts at most kMost.
template <std::size_t kMost>
class HeldOpaque {
 public:
  static constexpr std::size_t kLimit = kMost;
  static constexpr std::size_t kCapacity = 2 * kMost;

  HeldOpaque() = default;
  /// Octets beyond kCapacity are dropped.
  explicit HeldOpaque(View octets) { assign(octets.first(std::min(octets.size(), kCapacity))); }

  View view() const { return View{octets_}.first(size_); }
  std::size_t size() const { return size_; }
  /// False, and without effect, for more octets than kCapacity.
  bool assign(View octets) {
    if (octets.size() > kCapacity) return false;
    std::copy(octets.begin(), octets.end(), octets_.begin());
    size_ = octets.size();
    return true;
  }
  bool operator==(const HeldOpaque& other) const {
    return std::ranges::equal(view(), other.view());
  }

 private:
  std::array<std::byte, kCapacity> octets_{};
  std::size_t size_ = 0;
};

}  // namespace steertag::rpc
