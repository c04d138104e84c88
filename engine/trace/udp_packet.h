// Builds UDP/IPv4 and UDP/IPv6 packets with right lengths and checksums around given octets.
#pragma once

#include "support/bytes.h"
#include "trace/ip_packet.h"

namespace steertag::trace {

/// Payload that one packet takes at most: 65535 octets of IPv4 packet less both headers.
inline constexpr std::size_t kMaxDatagramBytes = 65507;

/// Replaces `packet` by an IP packet that carries the datagram, of at most kMaxDatagramBytes. The
/// IP header is the one that RoCEv2's invariant CRC covers: identification 0, no fragments.
void build_udp_packet(const Endpoint& from, const Endpoint& to, View payload, Bytes& packet);

}  // namespace steertag::trace
