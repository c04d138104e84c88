// Local and global route headers (InfiniBand specification, chapters 7 and 8).
#pragma once

#include <array>
#include <cstdint>

#include "support/bytes.h"

namespace steertag::rdma::infiniband {

inline constexpr std::size_t kLocalRouteBytes = 8;
inline constexpr std::size_t kGlobalRouteBytes = 40;
/// The invariant CRC after the payload. It covers fields of lower layers that a capture may lack.
/// Devices that compute it on transmission leave any value in captures.
inline constexpr std::size_t kInvariantCrcBytes = 4;
/// Next header of a GRH before a base transport header.
inline constexpr std::uint8_t kNextHeaderTransport = 0x1b;

/// The header after a local route header.
enum class LinkNext : std::uint8_t { raw = 0, ipv6 = 1, transport = 2, global_route = 3 };

struct LocalRoute {
  std::uint8_t virtual_lane = 0;   // 4 bits
  std::uint8_t version = 0;        // 4 bits
  std::uint8_t service_level = 0;  // 4 bits
  LinkNext next = LinkNext::transport;
  std::uint16_t destination_lid = 0;
  std::uint16_t words = 0;  // 11 bits: four octets each, from this header through the invariant CRC
  std::uint16_t source_lid = 0;
  bool operator==(const LocalRoute&) const = default;
};

struct GlobalRoute {
  std::uint8_t version = 6;  // 4 bits
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;      // 20 bits
  std::uint16_t payload_length = 0;  // octets after this header through the invariant CRC
  std::uint8_t next_header = kNextHeaderTransport;
  std::uint8_t hop_limit = 0;
  std::array<std::byte, 16> source{};  // GIDs
  std::array<std::byte, 16> destination{};
  bool operator==(const GlobalRoute&) const = default;
};

/// These read and write kLocalRouteBytes or kGlobalRouteBytes.
LocalRoute decode_local_route(const std::byte* from);
void encode(const LocalRoute& route, std::byte* to);
GlobalRoute decode_global_route(const std::byte* from);
void encode(const GlobalRoute& route, std::byte* to);

}  // namespace steertag::rdma::infiniband
