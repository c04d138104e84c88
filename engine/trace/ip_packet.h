// Builds the IPv4 or IPv6 header of a packet, and the checksum of what it carries.
#pragma once

#include "support/bytes.h"
#include "trace/endpoint.h"
#include "trace/packet_layout.h"

namespace steertag::trace {

enum class IpProtocol : std::uint8_t { tcp = 6, udp = 17 };

/// Adds the header of a packet with `length` octets behind it: IPv4 if both addresses are IPv4,
/// otherwise IPv6. It forbids fragments. The identification is of IPv4 only.
void put_ip_header(PacketLayout& layout, const Endpoint& from, const Endpoint& to,
                   IpProtocol protocol, std::size_t length, std::uint16_t identification = 0);

/// The checksum of TCP or UDP: `segment` is the header, with zeros for the checksum, and the
/// payload.
std::uint16_t segment_checksum(const Endpoint& from, const Endpoint& to, IpProtocol protocol,
                               View segment);

}  // namespace steertag::trace
