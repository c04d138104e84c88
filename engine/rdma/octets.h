// Big-endian integers in octet buffers, the format of every RDMA header.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/bytes.h"

namespace steertag::rdma {

inline std::uint8_t load8(const std::byte* from) {
  return std::to_integer<std::uint8_t>(*from);
}
inline std::uint16_t load16(const std::byte* from) {
  return static_cast<std::uint16_t>(load8(from) << 8 | load8(from + 1));
}
inline std::uint32_t load32(const std::byte* from) {
  return static_cast<std::uint32_t>(load16(from)) << 16 | load16(from + 2);
}
inline std::uint64_t load64(const std::byte* from) {
  return static_cast<std::uint64_t>(load32(from)) << 32 | load32(from + 4);
}

inline void store8(std::byte* to, std::uint8_t value) {
  *to = static_cast<std::byte>(value);
}
inline void store16(std::byte* to, std::uint16_t value) {
  store8(to, static_cast<std::uint8_t>(value >> 8));
  store8(to + 1, static_cast<std::uint8_t>(value));
}
inline void store32(std::byte* to, std::uint32_t value) {
  store16(to, static_cast<std::uint16_t>(value >> 16));
  store16(to + 2, static_cast<std::uint16_t>(value));
}
inline void store64(std::byte* to, std::uint64_t value) {
  store32(to, static_cast<std::uint32_t>(value >> 32));
  store32(to + 4, static_cast<std::uint32_t>(value));
}

}  // namespace steertag::rdma
