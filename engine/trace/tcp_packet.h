// Builds TCP/IPv4 and TCP/IPv6 packets with right lengths and checksums around given octets.
#pragma once

#include "support/bytes.h"
#include "trace/ip_packet.h"

namespace steertag::trace {

/// Payload that one packet takes at most: 65535 octets of IPv4 packet less both headers with
/// options. The longest FPDU (RFC 5044: 64 KiB less headers) fits.
inline constexpr std::size_t kMaxSegmentBytes = 65483;

/// TCP header flags, with their bits on the wire.
enum TcpFlags : std::uint8_t { kFin = 0x01, kSyn = 0x02, kRst = 0x04, kPsh = 0x08, kAck = 0x10 };

struct TcpSegment {
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  std::uint8_t flags = 0;
  View payload;  // at most kMaxSegmentBytes
};

/// Replaces `packet` by an IP packet that carries the segment. IPv4 if both addresses are IPv4,
/// otherwise IPv6. A SYN carries MSS and window scale, so that no window is ever full.
void build_tcp_packet(const Endpoint& from, const Endpoint& to, const TcpSegment& segment,
                      Bytes& packet);

}  // namespace steertag::trace
