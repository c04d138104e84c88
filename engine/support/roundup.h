// Roundup to a multiple of four octets, as in XDR, MPA and pcapng.
#pragma once

#include <cstddef>
#include <cstdint>

namespace steertag {

static_assert(sizeof(std::size_t) == sizeof(std::uint64_t), "a sum of lengths fits into a size");

/// `length` rounded up to a multiple of four.
constexpr std::size_t roundup4(std::size_t length) {
  return (length + 3) & ~std::size_t{3};
}

}  // namespace steertag
