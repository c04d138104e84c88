// Integers in the byte order of a capture file or of one of its sections.
#pragma once

#include <cstdint>
#include <cstring>

#include "support/bytes.h"

namespace steertag::capture {

/// `swapped`: the writer's order differs from this machine's.
struct ByteOrder {
  bool swapped = false;

  std::uint16_t load16(const std::byte* from) const {
    std::uint16_t value = 0;
    std::memcpy(&value, from, sizeof value);
    return swapped ? __builtin_bswap16(value) : value;
  }
  std::uint32_t load32(const std::byte* from) const {
    std::uint32_t value = 0;
    std::memcpy(&value, from, sizeof value);
    return swapped ? __builtin_bswap32(value) : value;
  }
  std::uint64_t load64(const std::byte* from) const {
    std::uint64_t value = 0;
    std::memcpy(&value, from, sizeof value);
    return swapped ? __builtin_bswap64(value) : value;
  }

  void store16(std::byte* to, std::uint16_t value) const {
    if (swapped) value = __builtin_bswap16(value);
    std::memcpy(to, &value, sizeof value);
  }
  void store32(std::byte* to, std::uint32_t value) const {
    if (swapped) value = __builtin_bswap32(value);
    std::memcpy(to, &value, sizeof value);
  }
  void store64(std::byte* to, std::uint64_t value) const {
    if (swapped) value = __builtin_bswap64(value);
    std::memcpy(to, &value, sizeof value);
  }

  bool operator==(const ByteOrder&) const = default;
};

}  // namespace steertag::capture
