// Shared by fuzz targets: a property that must hold, or the fuzzer reports its input.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/bytes.h"

namespace steertag::fuzz {

/// Traps, so that libFuzzer keeps the input, unless the property holds.
inline void check(bool property) {
  if (!property) __builtin_trap();
}

inline View view_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

}  // namespace steertag::fuzz
