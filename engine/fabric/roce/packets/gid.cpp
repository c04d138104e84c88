// Conversion of addresses.
#include "fabric/roce/packets/gid.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "rdma/infiniband/transport.h"
#include "rdma/octets.h"

namespace steertag::fabric::roce {
namespace {

constexpr std::size_t kIpv4Bytes = 4;
constexpr std::size_t kIpv4At = 12;  // in a mapped address, after ten octets 0 and two 0xff

sockaddr_in four_of(const Address& address) {
  sockaddr_in four{};
  std::memcpy(&four, &address.storage, sizeof four);
  return four;
}

sockaddr_in6 six_of(const Address& address) {
  sockaddr_in6 six{};
  std::memcpy(&six, &address.storage, sizeof six);
  return six;
}

/// The octets of an address at the end of a field.
void put(const Address& address, std::span<std::byte> field) {
  const Gid gid = gid_of(address);
  const std::size_t bytes = std::min(field.size(), is_ipv4(address) ? kIpv4Bytes : gid.size());
  std::ranges::copy(std::span(gid).last(bytes), field.last(bytes).begin());
}

template <class Route>
Route route_between(const Address& source, const Address& destination) {
  Route route;
  put(source, route.source);
  put(destination, route.destination);
  route.source_port = source.port();
  route.destination_port = destination.port();
  return route;
}

Address without_mapping(const Address& address) {
  const in6_addr six = six_of(address).sin6_addr;
  if (is_ipv4(address) || !IN6_IS_ADDR_V4MAPPED(&six)) {
    return address;
  }
  std::uint32_t four = 0;
  std::memcpy(&four, six.s6_addr + kIpv4At, sizeof four);
  return ipv4_address(ntohl(four), address.port());
}

}  // namespace

bool is_ipv4(const Address& address) {
  return address.storage.ss_family == AF_INET;
}

Gid gid_of(const Address& address) {
  Gid gid{};
  if (is_ipv4(address)) {
    gid[kIpv4At - 2] = gid[kIpv4At - 1] = std::byte{0xff};
    const sockaddr_in four = four_of(address);
    std::memcpy(gid.data() + kIpv4At, &four.sin_addr, sizeof four.sin_addr);
  } else {
    const sockaddr_in6 six = six_of(address);
    std::memcpy(gid.data(), &six.sin6_addr, gid.size());
  }
  return gid;
}

std::uint64_t guid_of(const Address& address) {
  constexpr std::size_t kGuidBytes = 8;
  return rdma::load64(gid_of(address).data() + sizeof(Gid) - kGuidBytes);
}

Host host_of(const Address& address) {
  return {gid_of(address), is_link_local(address) ? six_of(address).sin6_scope_id : 0};
}

rdma::infiniband::IpRoute route_of(const Address& source, const Address& destination) {
  if (is_ipv4(source)) {
    return route_between<rdma::infiniband::Ipv4Route>(source, destination);
  }
  return route_between<rdma::infiniband::Ipv6Route>(source, destination);
}

rdma::infiniband::IpHeader ip_header_of(const Address& own, const Address& peer,
                                        std::uint16_t port) {
  rdma::infiniband::IpHeader header;
  header.version = is_ipv4(own) ? 4 : 6;
  header.source_port = port;
  put(own, header.source);
  put(peer, header.destination);
  return header;
}

Address ipv4_address(std::uint32_t host_order, std::uint16_t port) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(host_order);
  four.sin_port = htons(port);
  Address address;
  std::memcpy(&address.storage, &four, sizeof four);
  address.length = sizeof four;
  return address;
}

Address roce_address(const Address& address) {
  return with_port(address, rdma::infiniband::kRoceUdpPort);
}

bool is_loopback(const Address& address) {
  if (is_ipv4(address)) {
    return ntohl(four_of(address).sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  const in6_addr six = six_of(address).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&six);
}

bool is_link_local(const Address& address) {
  const in6_addr six = six_of(address).sin6_addr;
  return !is_ipv4(address) && IN6_IS_ADDR_LINKLOCAL(&six);
}

bool is_specific(const Address& address) {
  if (is_ipv4(address)) {
    return four_of(address).sin_addr.s_addr != htonl(INADDR_ANY);
  }
  const in6_addr six = six_of(address).sin6_addr;
  return !IN6_IS_ADDR_UNSPECIFIED(&six);
}

std::vector<Address> ipv4_first(std::vector<Address> addresses) {
  std::ranges::transform(addresses, addresses.begin(), without_mapping);
  std::stable_partition(addresses.begin(), addresses.end(), is_ipv4);
  return addresses;
}

Expected<std::vector<Address>, Error> resolve_hosts(const Url& url, bool passive) {
  auto addresses = resolve(url, passive);
  if (!addresses) {
    return tl::unexpected(std::move(addresses.error()));
  }
  return ipv4_first(std::move(*addresses));
}

}  // namespace steertag::fabric::roce
