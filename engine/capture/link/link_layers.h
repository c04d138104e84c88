// Removes the link layer's headers before IP or InfiniBand, and IP's own headers.
#pragma once

#include <cstdint>
#include <variant>

#include "capture/datagram.h"
#include "capture/infiniband_frame.h"
#include "capture/link/fragments.h"
#include "capture/packet.h"

namespace steertag::capture {

/// VLAN tags of one frame: two are standard (802.1ad), and providers' networks have a few more.
inline constexpr std::size_t kMostVlanTags = 8;
/// IPv6 extension headers of one packet. RFC 8200 4.1 has eight places for them.
inline constexpr std::size_t kMostExtensionHeaders = 16;
/// Extension headers of one ERF record; Wireshark reads as many.
inline constexpr std::size_t kMostErfExtensions = 16;

/// Nothing if the packet is of another protocol, if its headers are truncated or contradictory, or
/// if it is a fragment that completes no packet.
using LinkFrame = std::variant<std::monostate, Datagram, InfinibandFrame>;

class LinkLayers {
 public:
  /// The frame's views point into the packet, or are valid until the next call.
  LinkFrame read(const Packet& packet);

 private:
  /// The rest of a packet after the headers that were read.
  struct Rest {
    FrameStamp stamp;
    View octets;
    std::size_t length = 0;  // on the wire

    /// False if the header is truncated.
    bool drop(std::size_t header);
    /// Drops octets beyond the length in a header, such as padding.
    void limit(std::size_t to);
  };

  static LinkFrame read_infiniband(Rest rest);
  static LinkFrame read_roce(Rest rest);
  LinkFrame read_link(LinkType type, const Rest& rest);
  LinkFrame read_erf(Rest rest);
  LinkFrame read_ethernet(Rest rest);
  LinkFrame read_ether_type(std::uint16_t type, Rest rest);
  LinkFrame read_cooked(Rest rest, std::size_t header, std::size_t type_at);
  LinkFrame read_loopback(Rest rest);
  LinkFrame read_ip(const Rest& rest);
  LinkFrame read_ipv4(Rest rest);
  LinkFrame read_ipv6(Rest rest);
  LinkFrame read_extensions(Datagram datagram, bool reassembled);
  LinkFrame join(Datagram datagram, const FragmentKey& key, const Fragment& fragment);

  Fragments fragments_;
};

}  // namespace steertag::capture
