// Packet sequence numbers: 24 bits that wrap (InfiniBand specification, chapter 9).
#pragma once

#include <cstdint>

namespace steertag::rdma::infiniband {

inline constexpr std::uint32_t kPsnMask = 0xffffff;

constexpr std::uint32_t psn_after(std::uint32_t psn, std::uint32_t count = 1) {
  return (psn + count) & kPsnMask;
}

/// The signed distance from `from` to `psn`. Half of all PSNs count as later, and half as earlier.
constexpr std::int32_t psn_distance(std::uint32_t from, std::uint32_t psn) {
  const std::uint32_t ahead = (psn - from) & kPsnMask;
  return ahead < 0x800000 ? static_cast<std::int32_t>(ahead)
                          : static_cast<std::int32_t>(ahead) - 0x1000000;
}

}  // namespace steertag::rdma::infiniband
