// What the fuzz targets of roce share: packets of a peer, and sizes near those that matter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fabric/fuzz/octet_source.h"
#include "fabric/roce/network/datagrams.h"
#include "fabric/roce/packets/formats.h"

namespace steertag::fuzz {

/// Octets of a packet of any route.
inline Bytes packet_octets(const fabric::roce::PacketHeaders& headers, View payload) {
  return fabric::roce::wire::whole_packet(
      headers, payload, fabric::roce::wire::InvariantCrc(rdma::infiniband::Ipv4Route{}));
}

/// A payload of one octet's choice: small, or about as large as the path MTU.
inline View payload_of(std::uint8_t choice, std::uint32_t path_mtu) {
  static const Bytes octets(fabric::roce::kMostDatagramBytes, std::byte{0x5a});
  const std::size_t size =
      choice < 128 ? choice : path_mtu + std::size_t{choice} - 192;  // 192: the path MTU
  return View(octets).first(std::min(size, octets.size()));
}

/// Whether all octets have this value, without a loop that the sanitizers watch.
inline bool all_are(View octets, std::byte value) {
  return octets.empty() || (octets[0] == value &&
                            std::memcmp(octets.data(), octets.data() + 1, octets.size() - 1) == 0);
}
inline void fill(MutableView octets, std::byte value) {
  std::memset(octets.data(), std::to_integer<int>(value), octets.size());
}

/// A PSN at a distance from another.
inline std::uint32_t psn_at(std::uint32_t from, std::int32_t distance) {
  return (from + static_cast<std::uint32_t>(distance)) & fabric::roce::wire::kPsnMask;
}

}  // namespace steertag::fuzz
