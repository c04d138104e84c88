// Connection setup by IP address (InfiniBand specification, annex A11).
//
// Service ids name a port. The request's private data starts with a header.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "support/bytes.h"

namespace steertag::rdma::infiniband {

inline constexpr std::size_t kIpHeaderBytes = 36;

/// Whether a service id is one of connection setup by IP address: 0x00000000 01, protocol, port.
constexpr bool is_ip_service(std::uint64_t service) {
  return service >> 24 == 1;
}
constexpr std::uint64_t tcp_service(std::uint16_t port) {
  return std::uint64_t{0x01060000} | port;
}
/// The port of a service id of protocol 6, the TCP port space of NFS/RDMA.
constexpr std::optional<std::uint16_t> tcp_port(std::uint64_t service) {
  if (service >> 16 != 0x0106) return std::nullopt;
  return static_cast<std::uint16_t>(service);
}

/// IPv4 addresses are in the last four octets of their fields.
struct IpHeader {
  std::uint8_t major = 0;    // 4 bits
  std::uint8_t minor = 0;    // 4 bits
  std::uint8_t version = 4;  // 4 bits: of IP
  std::uint16_t source_port = 0;
  std::array<std::byte, 16> source{};
  std::array<std::byte, 16> destination{};
  bool operator==(const IpHeader&) const = default;
};
/// These read and write kIpHeaderBytes.
IpHeader decode_ip_header(const std::byte* from);
void encode(const IpHeader& header, std::byte* to);

/// The consumer's part of a request's private data, without the header if the service has one.
View consumer_data(std::uint64_t service, View private_data);

}  // namespace steertag::rdma::infiniband
