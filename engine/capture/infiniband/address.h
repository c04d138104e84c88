// Addresses of RoCE and InfiniBand packets, and the one-way flows between them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "capture/connection.h"
#include "capture/datagram.h"

namespace steertag::capture::infiniband {

/// The address of an end below the transport.
struct Address {
  enum class Kind : std::uint8_t { ip, gid, lid };  // RoCEv2, RoCEv1, InfiniBand
  Kind kind = Kind::ip;
  std::array<std::byte, 16> octets{};  // a LID is in the last two
  /// "192.0.2.1", "lid 4".
  std::string text() const;
  auto operator<=>(const Address&) const = default;
};
Address of_ip(const IpAddress& address);
Address of_gid(const std::array<std::byte, 16>& gid);
Address of_lid(std::uint16_t lid);

/// Packets of one sender to one queue pair. A packet of a reliable connection names only the
/// receiver's queue pair. Two flows therefore make a connection.
struct FlowKey {
  Address source;
  Address destination;
  std::uint32_t queue_pair = 0;  // the destination's
  auto operator<=>(const FlowKey&) const = default;
};

/// The fabric of a packet with such addresses.
Fabric fabric_of(const Address& address);
/// "192.0.2.1 qp 0x000011".
std::string end_text(const Address& address, std::uint32_t queue_pair);
/// "192.0.2.1 qp unknown".
std::string end_text(const Address& address);

}  // namespace steertag::capture::infiniband

template <>
struct std::hash<steertag::capture::infiniband::FlowKey> {
  std::size_t operator()(const steertag::capture::infiniband::FlowKey& key) const noexcept;
};
