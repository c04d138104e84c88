// The framing of a ULPDU in an FPDU: lengths, pad and CRC (RFC 5044 4).
#pragma once

#include <cstdint>

#include "rdma/octets.h"
#include "support/bytes.h"
#include "support/roundup.h"

namespace steertag::rdma::iwarp {

inline constexpr std::size_t kUlpduLengthBytes = 2;
inline constexpr std::size_t kCrcBytes = 4;
inline constexpr std::size_t kMostTrailerBytes = 3 + kCrcBytes;
/// RFC 5044 4.5: the range of MULPDU.
inline constexpr std::size_t kLeastMulpdu = 128;
inline constexpr std::size_t kMostMulpdu = 64768;

/// Octets of zero that follow a ULPDU of this length.
constexpr std::size_t pad_bytes(std::size_t ulpdu_length) {
  return (4 - (kUlpduLengthBytes + ulpdu_length) % 4) % 4;
}
/// Octets of a whole FPDU without markers.
constexpr std::size_t fpdu_bytes(std::size_t ulpdu_length) {
  return roundup4(kUlpduLengthBytes + ulpdu_length) + kCrcBytes;
}
/// The CRC field, which MPA stores least significant octet first.
inline std::uint32_t load_crc(const std::byte* from) {
  return static_cast<std::uint32_t>(load8(from)) |
         static_cast<std::uint32_t>(load8(from + 1)) << 8 |
         static_cast<std::uint32_t>(load8(from + 2)) << 16 |
         static_cast<std::uint32_t>(load8(from + 3)) << 24;
}

}  // namespace steertag::rdma::iwarp
