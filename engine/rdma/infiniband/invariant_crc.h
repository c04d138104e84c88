// The invariant CRC of RoCEv2, over all that routers leave unchanged.
//
// InfiniBand specification, annex A17.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "rdma/infiniband/routing.h"
#include "rdma/infiniband/transport.h"
#include "support/bytes.h"

namespace steertag::rdma::infiniband {

/// Addresses and ports of one direction of a flow. The CRC covers them: none may be translated.
struct Ipv4Route {
  std::array<std::byte, 4> source{};
  std::array<std::byte, 4> destination{};
  std::uint16_t source_port = kRoceUdpPort;
  std::uint16_t destination_port = kRoceUdpPort;
  bool dont_fragment = true;  // DF
};
struct Ipv6Route {
  std::array<std::byte, 16> source{};
  std::array<std::byte, 16> destination{};
  std::uint16_t source_port = kRoceUdpPort;
  std::uint16_t destination_port = kRoceUdpPort;
};
using IpRoute = std::variant<Ipv4Route, Ipv6Route>;

/// Computes the CRC of the packets of one flow. It is made once for the flow.
///
/// The IP header has neither options nor extension headers. A packet starts with its base header.
/// Its lengths are those of one IP packet.
class InvariantCrc {
 public:
  explicit InvariantCrc(const Ipv4Route& route);
  explicit InvariantCrc(const Ipv6Route& route);
  explicit InvariantCrc(const IpRoute& route);

  /// The CRC of a packet in pieces, from the base header through the pad. The first piece holds at
  /// least the base header. `identification` is that of the IPv4 header.
  std::uint32_t of(std::span<const View> pieces, std::uint16_t identification = 0) const;
  std::uint32_t of(View packet, std::uint16_t identification = 0) const;

  /// The same step by step. `first` starts with the base header, and add() continues the CRC with
  /// further octets. The packet has `packet_bytes` before its CRC.
  std::uint32_t start(View first, std::size_t packet_bytes, std::uint16_t identification = 0) const;
  static std::uint32_t add(std::uint32_t crc, View octets);

  /// Whether a packet ends with its CRC. False for a packet without room for base header and CRC.
  bool check(View packet_with_crc, std::uint16_t identification = 0) const;

  /// The IPv4 identification with which the CRC of a packet is right, or nothing if there is none.
  /// A UDP socket does not report it, and Linux does not send zero. A wrong packet passes with a
  /// chance of 2^-16. For IPv6 it is 0 if the CRC is right. The `likely` one is tried first: others
  /// cost more.
  std::optional<std::uint16_t> identification_of(View packet_with_crc,
                                                 std::uint16_t likely = 0) const;

  /// These write and read kInvariantCrcBytes, the least significant octet first.
  static void store(std::uint32_t crc, std::byte* to);
  static std::uint32_t load(const std::byte* from);

 private:
  /// All ones in place of a local route header, the IP header, the UDP header, the base header.
  static constexpr std::size_t kUdpBytes = 8;
  static constexpr std::size_t kIpv4Bytes = 20;
  static constexpr std::size_t kIpv6Bytes = 40;
  static constexpr std::size_t kMostBytes = kLocalRouteBytes + kIpv6Bytes + kUdpBytes + kBaseBytes;

  void put_ports(std::uint16_t source, std::uint16_t destination);
  bool is_ipv4() const { return udp_at_ == kLocalRouteBytes + kIpv4Bytes; }

  std::array<std::byte, kMostBytes> header_;  // lengths and identification are still zero
  std::size_t udp_at_ = 0;
  std::size_t fixed_bytes_ = 0;  // before the first field that varies
  std::uint32_t fixed_crc_ = 0;  // of those
};

}  // namespace steertag::rdma::infiniband
