// The input of a fuzz target as octets that it takes one after another.
#pragma once

#include <cstdint>

#include "support/bytes.h"

namespace steertag::fuzz {

/// Behind the end are zeros.
class OctetSource {
 public:
  explicit OctetSource(View octets) : octets_(octets) {}

  bool empty() const { return octets_.empty(); }
  std::uint8_t octet() {
    if (octets_.empty()) return 0;
    const auto value = std::to_integer<std::uint8_t>(octets_.front());
    octets_ = octets_.subspan(1);
    return value;
  }
  std::int32_t signed_octet() { return static_cast<std::int8_t>(octet()); }
  std::uint16_t word() {
    const std::uint8_t upper = octet();
    return static_cast<std::uint16_t>(upper << 8 | octet());
  }
  std::int32_t signed_word() { return static_cast<std::int16_t>(word()); }
  /// At most `count` octets.
  View take(std::size_t count) {
    const View taken = octets_.first(count < octets_.size() ? count : octets_.size());
    octets_ = octets_.subspan(taken.size());
    return taken;
  }

 private:
  View octets_;
};

}  // namespace steertag::fuzz
