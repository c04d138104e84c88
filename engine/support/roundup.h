// Roundup to a multiple of four octets, which XDR, MPA and pcapng have in common.
#pragma once

#include <cstddef>
#include <cstdint>

namespace steertag {

static_assert(sizeof(std::size_t) == sizeof(std::uint64_t), "a sum of lengths fits into a size");

/// Octets that `length` takes after roundup to a multiple of four.
constexpr std::size_t roundup4(std::size_t length) {
  return (length + 3) & ~std::size_t{3};
}

}  // namespace steertag
