// Questions to the system: a connected socket tells the route, getifaddrs the addresses.
#include "fabric/roce/network/route.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "fabric/roce/packets/gid.h"

namespace steertag::fabric::roce {
namespace {

std::vector<Address> ipv6_addresses() {
  std::vector<Address> addresses;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) {
    return addresses;
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET6 ||
        (each->ifa_flags & IFF_UP) == 0) {
      continue;
    }
    Address& address = addresses.emplace_back();
    address.length = sizeof(sockaddr_in6);
    std::memcpy(&address.storage, each->ifa_addr, address.length);
  }
  return addresses;
}

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
  route.sources.push_back(local_address(probe));
  if (!four && host_of(route.sources.front()) == host_of(peer)) {
    const std::vector<Address> others = sources_beside(peer, ipv6_addresses());
    route.sources.insert(route.sources.end(), others.begin(), others.end());
  }
  return route;
}

}  // namespace steertag::fabric::roce
