// Builds UDP/IPv4 and UDP/IPv6 packets with right lengths and checksums around given octets.
#pragma once

#include "support/bytes.h"
#include "trace/ip_packet.h"

namespace steertag::trace {

/// Payload that one packet takes at most: 65535 octets of IPv4 packet less both headers.
inline constexpr std::size_t kMaxDatagramBytes = 65507;

struct UdpDatagram {
  View payload;                      // at most kMaxDatagramBytes
  std::uint16_t identification = 0;  // of the IPv4 header; RoCEv2's invariant CRC covers it
};

/// Replaces `packet` by an IP packet that carries the datagram, and forbids fragments.
void build_udp_packet(const Endpoint& from, const Endpoint& to, const UdpDatagram& datagram,
                      Bytes& packet);

}  // namespace steertag::trace
