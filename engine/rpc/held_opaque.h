// Variable-length opaque data that is kept by value.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "support/bytes.h"

namespace steertag::rpc {

/// An opaque type of at most `kMost` octets that holds them itself (see Holder), so that it
/// outlives the message. There is room for more than the protocol allows, because cases send such
/// values; decoding takes kMost at most.
template <std::size_t kMost>
class HeldOpaque {
 public:
  static constexpr std::size_t kLimit = kMost;
  static constexpr std::size_t kCapacity = 2 * kMost;

  HeldOpaque() = default;
  /// Octets beyond kCapacity are cut off.
  explicit HeldOpaque(View octets) { assign(octets.first(std::min(octets.size(), kCapacity))); }

  View view() const { return View{octets_}.first(size_); }
  std::size_t size() const { return size_; }
  /// False, and unchanged, when there are more octets than kCapacity.
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
