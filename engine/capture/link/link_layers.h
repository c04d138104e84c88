// Takes off what stands before IP or InfiniBand in a packet, and IP's own headers.
#pragma once

#include <cstdint>
#include <variant>

#include "capture/datagram.h"
#include "capture/infiniband_frame.h"
#include "capture/link/fragments.h"
#include "capture/packet.h"

namespace steertag::capture {

/// VLAN tags of one frame: two are standard (802.1ad), a few more are seen in networks of
/// providers.
inline constexpr std::size_t kMostVlanTags = 8;
/// IPv6 extension headers of one packet. RFC 8200 4.1 knows eight places for them.
inline constexpr std::size_t kMostExtensionHeaders = 16;
/// Extension headers of one ERF record, as many as Wireshark reads.
inline constexpr std::size_t kMostErfExtensions = 16;

/// Nothing: the packet is of another protocol, its headers are cut or contradict themselves, or it
/// is a fragment that completes nothing.
using LinkFrame = std::variant<std::monostate, Datagram, InfinibandFrame>;

class LinkLayers {
 public:
  /// What the frame's views point to is the packet, or valid until the next call.
  LinkFrame read(const Packet& packet);

 private:
  /// What is left of a packet behind the headers that were read.
  struct Rest {
    Place place;
    View octets;
    std::size_t length = 0;  // on the wire

    /// False if the header is not there in whole.
    bool drop(std::size_t header);
    /// What is behind the length that a header gave, such as padding, is not the packet's.
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
