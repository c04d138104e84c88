// Checks packets as a receiver does.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "trace/ip_packet.h"

namespace steertag::trace {

inline std::uint32_t read16(View octets, std::size_t at) {
  return std::to_integer<std::uint32_t>(octets[at]) << 8 |
         std::to_integer<std::uint32_t>(octets[at + 1]);
}

/// RFC 1071: the folded ones-complement sum of data with a right checksum is 0xffff.
inline std::uint32_t folded_sum(Bytes octets) {
  if (octets.size() % 2 != 0) octets.push_back(std::byte{0});
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < octets.size(); i += 2) {
    sum += read16(octets, i);
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return sum;
}

/// What the checksum of TCP or UDP covers: pseudo-header (addresses, length, protocol) and segment.
inline Bytes checksummed(IpProtocol protocol, View packet, std::size_t addresses_at,
                         std::size_t addresses_length, std::size_t segment_at) {
  const View addresses = packet.subspan(addresses_at, addresses_length);
  const View segment = packet.subspan(segment_at);
  Bytes all(addresses.begin(), addresses.end());
  all.push_back(std::byte(segment.size() >> 8));
  all.push_back(std::byte(segment.size() & 0xff));
  all.push_back(std::byte{0});
  all.push_back(std::byte(protocol));
  all.insert(all.end(), segment.begin(), segment.end());
  return all;
}

inline Endpoint endpoint(std::string_view address, std::uint16_t port) {
  const auto parsed = parse_endpoint(address, port);
  EXPECT_TRUE(parsed) << address;
  return parsed.value_or(Endpoint{});
}

}  // namespace steertag::trace
