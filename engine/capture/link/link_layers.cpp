// One function per header; each reads only the captured part.
#include "capture/link/link_layers.h"

#include <algorithm>

#include "rdma/octets.h"

namespace steertag::capture {
namespace {

using rdma::load16;
using rdma::load32;
using rdma::load8;

namespace ether_type {
constexpr std::uint16_t kIpv4 = 0x0800;
constexpr std::uint16_t kVlan = 0x8100;
constexpr std::uint16_t kIpv6 = 0x86dd;
constexpr std::uint16_t kServiceVlan = 0x88a8;
constexpr std::uint16_t kRoce = 0x8915;
constexpr std::uint16_t kOldServiceVlan = 0x9100;
}  // namespace ether_type

constexpr std::size_t kEthernetBytes = 14;
constexpr std::size_t kTypeAt = 12;
constexpr std::size_t kVlanBytes = 4;
constexpr std::size_t kCookedBytes = 16;
constexpr std::size_t kCookedTypeAt = 14;
constexpr std::size_t kCooked2Bytes = 20;
constexpr std::size_t kCooked2TypeAt = 0;
constexpr std::size_t kLoopbackBytes = 4;

constexpr std::size_t kErfBytes = 16;
constexpr std::size_t kErfExtensionBytes = 8;
constexpr std::size_t kErfEthernetPadBytes = 2;
constexpr std::uint8_t kErfMore = 0x80;  // an extension header follows
namespace erf_type {
constexpr std::uint8_t kEthernet = 2;
constexpr std::uint8_t kColorEthernet = 11;
constexpr std::uint8_t kDsmEthernet = 16;
constexpr std::uint8_t kColorHashEthernet = 20;
constexpr std::uint8_t kInfiniband = 21;
constexpr std::uint8_t kIpv4 = 22;
constexpr std::uint8_t kIpv6 = 23;
}  // namespace erf_type

constexpr std::size_t kLrhBytes = 8;
constexpr std::size_t kGrhBytes = 40;

constexpr std::size_t kIpv4Bytes = 20;
constexpr std::size_t kIpv6Bytes = 40;
namespace next_header {
constexpr std::uint8_t kHopByHop = 0;
constexpr std::uint8_t kRouting = 43;
constexpr std::uint8_t kFragment = 44;
constexpr std::uint8_t kAuthentication = 51;
constexpr std::uint8_t kDestinationOptions = 60;
constexpr std::uint8_t kMobility = 135;
constexpr std::uint8_t kHip = 139;
constexpr std::uint8_t kShim6 = 140;
}  // namespace next_header
constexpr std::size_t kFragmentBytes = 8;

IpAddress ipv4_address(const std::byte* from) {
  IpAddress address;
  address.octets[10] = address.octets[11] = std::byte{0xff};
  std::copy_n(from, 4, address.octets.begin() + 12);
  return address;
}

IpAddress ipv6_address(const std::byte* from) {
  IpAddress address;
  std::copy_n(from, 16, address.octets.begin());
  return address;
}

/// Octets of an IPv6 extension header; 0 if it cannot be skipped.
std::size_t extension_bytes(std::uint8_t type, const std::byte* header) {
  switch (type) {
    case next_header::kHopByHop:
    case next_header::kRouting:
    case next_header::kDestinationOptions:
    case next_header::kMobility:
    case next_header::kHip:
    case next_header::kShim6:
      return (load8(header + 1) + std::size_t{1}) * 8;
    case next_header::kAuthentication:
      return (load8(header + 1) + std::size_t{2}) * 4;  // RFC 4302 2.2
    case next_header::kFragment:
      return kFragmentBytes;
    default:
      return 0;
  }
}

bool is_extension(std::uint8_t type) {
  constexpr std::byte kNone[2] = {};
  return extension_bytes(type, kNone) != 0;
}

}  // namespace

bool LinkLayers::Rest::drop(std::size_t header) {
  if (octets.size() < header || length < header) return false;
  octets = octets.subspan(header);
  length -= header;
  return true;
}

void LinkLayers::Rest::limit(std::size_t to) {
  length = to;
  octets = octets.first(std::min(octets.size(), to));
}

LinkFrame LinkLayers::read(const Packet& packet) {
  return read_link(packet.link_type, {packet.stamp, packet.octets, packet.wire_bytes});
}

LinkFrame LinkLayers::read_link(LinkType type, const Rest& rest) {
  switch (type) {
    case LinkType::ethernet:
      return read_ethernet(rest);
    case LinkType::null_loopback:
    case LinkType::openbsd_loopback:
      return read_loopback(rest);
    case LinkType::raw_ip:
    case LinkType::ipv4:
    case LinkType::ipv6:
      return read_ip(rest);
    case LinkType::linux_cooked:
      return read_cooked(rest, kCookedBytes, kCookedTypeAt);
    case LinkType::linux_cooked_2:
      return read_cooked(rest, kCooked2Bytes, kCooked2TypeAt);
    case LinkType::erf:
      return read_erf(rest);
    case LinkType::infiniband:
      return read_infiniband(rest);
  }
  return {};
}

/// The record's header has the packet's length. Its extension headers are skipped.
LinkFrame LinkLayers::read_erf(Rest rest) {
  const View header = rest.octets;
  if (!rest.drop(kErfBytes)) return {};
  const auto type = static_cast<std::uint8_t>(load8(header.data() + 8) & ~kErfMore);
  const std::size_t wire = load16(header.data() + 14);
  bool more = (load8(header.data() + 8) & kErfMore) != 0;
  for (std::size_t count = 0; more; ++count) {
    const View extension = rest.octets;
    if (count == kMostErfExtensions || !rest.drop(kErfExtensionBytes)) return {};
    more = (load8(extension.data()) & kErfMore) != 0;
  }
  switch (type) {
    case erf_type::kInfiniband:
      rest.limit(wire);
      return read_infiniband(rest);
    case erf_type::kIpv4:
    case erf_type::kIpv6:
      rest.limit(wire);
      return read_ip(rest);
    case erf_type::kEthernet:
    case erf_type::kColorEthernet:
    case erf_type::kDsmEthernet:
    case erf_type::kColorHashEthernet:
      if (!rest.drop(kErfEthernetPadBytes)) return {};
      rest.limit(wire);
      return read_ethernet(rest);
    default:
      return {};
  }
}

/// The local route header's packet length counts words up to the invariant CRC. A capture may
/// include the variant CRC or not.
LinkFrame LinkLayers::read_infiniband(Rest rest) {
  if (rest.octets.size() < kLrhBytes) return {};
  const std::size_t length = (load16(rest.octets.data() + 4) & std::size_t{0x7ff}) * 4;
  if (length >= kLrhBytes) rest.limit(length);
  return InfinibandFrame{rest.stamp, rest.octets, rest.length, true};
}

/// The global route header's length counts the octets after it, up to the invariant CRC.
LinkFrame LinkLayers::read_roce(Rest rest) {
  if (rest.octets.size() < kGrhBytes) return {};
  const std::size_t length = load16(rest.octets.data() + 4);
  if (length > 0) rest.limit(kGrhBytes + length);
  return InfinibandFrame{rest.stamp, rest.octets, rest.length, false};
}

LinkFrame LinkLayers::read_ethernet(Rest rest) {
  const View header = rest.octets;
  if (!rest.drop(kEthernetBytes)) return {};
  return read_ether_type(load16(header.data() + kTypeAt), rest);
}

/// Linux cooked: the type is an Ethernet type for all interfaces that carry IP.
LinkFrame LinkLayers::read_cooked(Rest rest, std::size_t header, std::size_t type_at) {
  const View octets = rest.octets;
  if (!rest.drop(header)) return {};
  return read_ether_type(load16(octets.data() + type_at), rest);
}

LinkFrame LinkLayers::read_ether_type(std::uint16_t type, Rest rest) {
  for (std::size_t tags = 0; tags <= kMostVlanTags; ++tags) {
    switch (type) {
      case ether_type::kIpv4:
      case ether_type::kIpv6:
        return read_ip(rest);
      case ether_type::kRoce:
        return read_roce(rest);
      case ether_type::kVlan:
      case ether_type::kServiceVlan:
      case ether_type::kOldServiceVlan: {
        const View tag = rest.octets;
        if (!rest.drop(kVlanBytes)) return {};
        type = load16(tag.data() + 2);
        break;
      }
      default:
        return {};  // among them the lengths of 802.3 frames
    }
  }
  return {};
}

/// An address family precedes the packet. It is a number of the capturing machine, in its byte
/// order. The IP version gives the same information.
LinkFrame LinkLayers::read_loopback(Rest rest) {
  if (!rest.drop(kLoopbackBytes)) return {};
  return read_ip(rest);
}

LinkFrame LinkLayers::read_ip(const Rest& rest) {
  if (rest.octets.empty()) return {};
  switch (load8(rest.octets.data()) >> 4) {
    case 4:
      return read_ipv4(rest);
    case 6:
      return read_ipv6(rest);
    default:
      return {};
  }
}

LinkFrame LinkLayers::read_ipv4(Rest rest) {
  if (rest.octets.size() < kIpv4Bytes) return {};
  const std::byte* header = rest.octets.data();
  const std::size_t header_bytes = std::size_t{load8(header) & 0xfu} * 4;
  const std::size_t total = load16(header + 2);
  // Zero means that the interface was to segment it (offload): the whole packet is payload.
  if (total != 0) rest.limit(total);
  if (header_bytes < kIpv4Bytes || !rest.drop(header_bytes)) return {};
  Datagram datagram{rest.stamp,
                    ipv4_address(header + 12),
                    ipv4_address(header + 16),
                    load8(header + 9),
                    rest.octets,
                    rest.length};
  const std::uint16_t stamp = load16(header + 6);
  Fragment fragment;
  fragment.offset = (stamp & std::size_t{0x1fff}) * 8;
  fragment.more = (stamp & 0x2000) != 0;
  if (fragment.offset == 0 && !fragment.more) {
    if (total != 0 && header_bytes == kIpv4Bytes) datagram.ip_header = View(header, kIpv4Bytes);
    return datagram;
  }
  fragment.octets = rest.octets;
  fragment.length = rest.length;
  fragment.protocol = datagram.protocol;
  const FragmentKey key{datagram.source, datagram.destination, load16(header + 4),
                        datagram.protocol};
  return join(datagram, key, fragment);
}

LinkFrame LinkLayers::read_ipv6(Rest rest) {
  const std::byte* header = rest.octets.data();
  if (!rest.drop(kIpv6Bytes)) return {};
  const std::size_t length = load16(header + 4);
  // Zero means a jumbogram, or a segment that the interface was to split (offload).
  if (length != 0) rest.limit(length);
  Datagram datagram{rest.stamp,
                    ipv6_address(header + 8),
                    ipv6_address(header + 24),
                    load8(header + 6),
                    rest.octets,
                    rest.length};
  if (length != 0 && !is_extension(datagram.protocol)) {
    datagram.ip_header = View(header, kIpv6Bytes);
  }
  return read_extensions(datagram, false);
}

/// Skips extension headers. RFC 8200 4.5: a reassembled packet has no fragment header.
LinkFrame LinkLayers::read_extensions(Datagram datagram, bool reassembled) {
  Rest rest{datagram.stamp, datagram.payload, datagram.length};
  for (std::size_t count = 0; is_extension(datagram.protocol); ++count) {
    const std::byte* header = rest.octets.data();
    if (count == kMostExtensionHeaders || rest.octets.size() < 2) return {};
    const bool is_fragment = datagram.protocol == next_header::kFragment;
    if (!rest.drop(extension_bytes(datagram.protocol, header))) return {};
    datagram.protocol = load8(header);
    datagram.payload = rest.octets;
    datagram.length = rest.length;
    if (!is_fragment) continue;
    const std::uint16_t stamp = load16(header + 2);
    const bool more = (stamp & 1) != 0;
    const std::size_t offset = stamp & std::size_t{0xfff8};
    if (offset == 0 && !more) continue;
    if (reassembled) return {};
    const FragmentKey key{datagram.source, datagram.destination, load32(header + 4), 0};
    return join(datagram, key, {offset, more, rest.octets, rest.length, datagram.protocol});
  }
  return datagram;
}

/// The datagram that a fragment completes, at the fragment's place.
LinkFrame LinkLayers::join(Datagram datagram, const FragmentKey& key, const Fragment& fragment) {
  const auto whole = fragments_.add(key, fragment, datagram.stamp.frame);
  if (!whole) return {};
  datagram.protocol = whole->protocol;
  datagram.payload = whole->octets;
  datagram.length = whole->length;
  if (datagram.source.is_ipv4()) return datagram;
  return read_extensions(datagram, true);
}

}  // namespace steertag::capture
