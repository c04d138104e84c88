// Conversion of addresses.
#include "fabric/roce/packets/gid.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "rdma/infiniband/transport.h"

namespace steertag::fabric::roce {
namespace {

sockaddr_in four_of(const Address& address) {
  sockaddr_in four{};
  std::memcpy(&four, &address.storage, sizeof four);
  return four;
}

}  // namespace

bool is_ipv4(const Address& address) {
  return address.storage.ss_family == AF_INET;
}

Gid gid_of(const Address& address) {
  Gid gid{};
  gid[10] = gid[11] = std::byte{0xff};
  const sockaddr_in four = four_of(address);
  std::memcpy(gid.data() + 12, &four.sin_addr, sizeof four.sin_addr);
  return gid;
}

rdma::infiniband::Ipv4Route route_of(const Address& source, const Address& destination) {
  rdma::infiniband::Ipv4Route route;
  const sockaddr_in from = four_of(source);
  const sockaddr_in to = four_of(destination);
  std::memcpy(route.source.data(), &from.sin_addr, route.source.size());
  std::memcpy(route.destination.data(), &to.sin_addr, route.destination.size());
  route.source_port = ntohs(from.sin_port);
  route.destination_port = ntohs(to.sin_port);
  return route;
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
  return ipv4_address(ntohl(four_of(address).sin_addr.s_addr), rdma::infiniband::kRoceUdpPort);
}

bool is_loopback(const Address& address) {
  return ntohl(four_of(address).sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

bool is_specific(const Address& address) {
  return four_of(address).sin_addr.s_addr != htonl(INADDR_ANY);
}

}  // namespace steertag::fabric::roce
