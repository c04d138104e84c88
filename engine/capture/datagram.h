// An IP packet's addresses and payload, over any link layer.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "capture/packet.h"

namespace steertag::capture {

/// An IP address; IPv4 in its IPv4-mapped IPv6 form.
struct IpAddress {
  std::array<std::byte, 16> octets{};
  bool is_ipv4() const;
  /// "192.0.2.1" or "2001:db8::1".
  std::string text() const;
  auto operator<=>(const IpAddress&) const = default;
};

inline constexpr std::uint8_t kProtocolTcp = 6;
inline constexpr std::uint8_t kProtocolUdp = 17;

/// The payload of an IP packet, reassembled from fragments.
struct Datagram {
  FrameStamp stamp;
  IpAddress source;
  IpAddress destination;
  std::uint8_t protocol = 0;  // the protocol of `payload`: kProtocolTcp, kProtocolUdp ...
  View payload;            // without link-layer trailers; valid during the call that hands it over
  std::size_t length = 0;  // of the payload on the wire: more than `payload` if truncated
  /// The IP header before the payload. Empty after reassembly, if options or extension headers
  /// follow it, and if it lacks the packet's length.
  View ip_header{};
};

}  // namespace steertag::capture
