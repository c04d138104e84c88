// Makes the route of a packet from its IP and UDP headers.
#include "capture/infiniband/crc_check.h"

#include <algorithm>

#include "rdma/infiniband/invariant_crc.h"
#include "rdma/octets.h"

namespace steertag::capture::infiniband {
namespace {

namespace ib = rdma::infiniband;

constexpr std::size_t kUdpBytes = 8;
constexpr std::size_t kUdpLengthAt = 4;
constexpr std::size_t kIpv4Bytes = 20;
constexpr std::size_t kIdentificationAt = 4;
constexpr std::size_t kFlagsAt = 6;
constexpr std::size_t kIpv4SourceAt = 12;
constexpr std::size_t kIpv6SourceAt = 8;
constexpr std::uint16_t kDontFragment = 0x4000;

template <class Route>
Route route_of(const std::byte* addresses, const std::byte* udp) {
  Route route;
  const std::size_t bytes = route.source.size();
  std::copy_n(addresses, bytes, route.source.begin());
  std::copy_n(addresses + bytes, bytes, route.destination.begin());
  route.source_port = rdma::load16(udp);
  route.destination_port = rdma::load16(udp + 2);
  return route;
}

}  // namespace

bool has_wrong_crc(const Datagram& datagram) {
  const View payload = datagram.payload;
  const std::byte* ip = datagram.ip_header.data();
  if (ip == nullptr || payload.size() != datagram.length) return false;
  if (payload.size() < kUdpBytes + ib::kBaseBytes + ib::kInvariantCrcBytes) return false;
  if (rdma::load16(payload.data() + kUdpLengthAt) != payload.size()) return false;
  const View packet = payload.subspan(kUdpBytes);
  if (datagram.ip_header.size() != kIpv4Bytes) {
    const auto route = route_of<ib::Ipv6Route>(ip + kIpv6SourceAt, payload.data());
    return !ib::InvariantCrc(route).check(packet);
  }
  auto route = route_of<ib::Ipv4Route>(ip + kIpv4SourceAt, payload.data());
  route.dont_fragment = (rdma::load16(ip + kFlagsAt) & kDontFragment) != 0;
  return !ib::InvariantCrc(route).check(packet, rdma::load16(ip + kIdentificationAt));
}

}  // namespace steertag::capture::infiniband
