// Questions to the system: a connected socket tells the route, getifaddrs the addresses.
#include "fabric/roce/network/route.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "fabric/roce/packets/formats.h"
#include "fabric/roce/packets/gid.h"

namespace steertag::fabric::roce {
namespace {

using Interfaces = std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)>;

Interfaces interfaces() {
  ifaddrs* first = nullptr;
  return {::getifaddrs(&first) == 0 ? first : nullptr, &::freeifaddrs};
}

Address address_of(const ifaddrs& interface) {
  Address address;
  address.length =
      interface.ifa_addr->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::memcpy(&address.storage, interface.ifa_addr, address.length);
  return address;
}

std::vector<Address> ipv6_addresses() {
  std::vector<Address> addresses;
  const Interfaces all = interfaces();
  for (const ifaddrs* each = all.get(); each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET6 ||
        (each->ifa_flags & IFF_UP) == 0) {
      continue;
    }
    addresses.push_back(address_of(*each));
  }
  return addresses;
}

// UDP, base header, RETH and CRC before and after the payload of the largest packet.
constexpr std::uint32_t kMostSurroundingBytes = 8 + 12 + 16 + 4 + 4;
constexpr std::uint32_t kIpv4HeaderBytes = 20;
constexpr std::uint32_t kIpv6HeaderBytes = 40;

// A link-local address is used on its interface only (RFC 4291 2.5.6), and the loopback address on
// none but its own (2.5.3).
bool reaches(const Address& source, const Address& peer) {
  const Host from = host_of(source);
  const Host to = host_of(peer);
  if (from == to || (is_loopback(source) && is_link_local(peer))) {
    return false;
  }
  return !is_link_local(source) || (is_link_local(peer) && from.interface == to.interface);
}

}  // namespace

std::vector<Address> sources_beside(const Address& peer, std::vector<Address> addresses) {
  std::erase_if(addresses, [&](const Address& each) { return !reaches(each, peer); });
  addresses.resize(std::min(addresses.size(), kMostSources));
  return addresses;
}

std::uint8_t path_mtu_towards(const Address& peer, const FindRoute& find_route,
                              std::uint32_t most) {
  const auto route = find_route(peer);
  return path_mtu_within(route ? route->mtu : 0, is_ipv4(peer), most);
}

std::uint8_t path_mtu_within(std::uint32_t mtu, bool ipv4, std::uint32_t most) {
  const std::uint32_t surrounding =
      kMostSurroundingBytes + (ipv4 ? kIpv4HeaderBytes : kIpv6HeaderBytes);
  std::uint8_t code = 5;
  while (code > 1 &&
         (wire::path_mtu_bytes(code) > most || wire::path_mtu_bytes(code) + surrounding > mtu)) {
    --code;
  }
  return code;
}

std::optional<std::uint32_t> interface_mtu(const Address& local, const Socket& socket) {
  const Interfaces all = interfaces();
  for (const ifaddrs* each = all.get(); each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != local.storage.ss_family ||
        host_of(address_of(*each)) != host_of(local)) {
      continue;
    }
    ifreq request{};
    std::strncpy(request.ifr_name, each->ifa_name, sizeof request.ifr_name - 1);
    if (::ioctl(socket.fd(), SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0) {
      return static_cast<std::uint32_t>(request.ifr_mtu);
    }
  }
  return std::nullopt;
}

Expected<Route, Error> system_route(const Address& peer) {
  // No datagram leaves.
  const Socket probe(::socket(peer.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!probe.open() || ::connect(probe.fd(), peer.generic(), peer.length) != 0) {
    return tl::unexpected(Error{Errc::cannot_connect, peer.text() + ": " + error_text(errno)});
  }
  const bool four = is_ipv4(peer);
  Route route;
  int mtu = 0;
  socklen_t length = sizeof mtu;
  if (::getsockopt(probe.fd(), four ? IPPROTO_IP : IPPROTO_IPV6, four ? IP_MTU : IPV6_MTU, &mtu,
                   &length) == 0) {
    route.mtu = static_cast<std::uint32_t>(std::max(mtu, 0));
  }
  // The way to an address of this machine is the loopback's. The peer goes by its own interface.
  if (const auto own = interface_mtu(peer, probe)) {
    route.mtu = std::min(route.mtu, *own);
  }
  route.sources.push_back(local_address(probe));
  if (!four && host_of(route.sources.front()) == host_of(peer)) {
    const std::vector<Address> others = sources_beside(peer, ipv6_addresses());
    route.sources.insert(route.sources.end(), others.begin(), others.end());
  }
  return route;
}

}  // namespace steertag::fabric::roce
