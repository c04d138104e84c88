// Addresses of RoCEv2: a global identifier is an IPv6 address, or a mapped IPv4 address.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <vector>

#include "fabric/net_names.h"
#include "rdma/infiniband/invariant_crc.h"
#include "rdma/infiniband/ip_service.h"

namespace steertag::fabric::roce {

using Gid = std::array<std::byte, 16>;

/// What tells two hosts apart. A link-local address is one of its interface only (RFC 4007).
struct Host {
  Gid gid{};
  std::uint32_t interface = 0;  // of a link-local address
  auto operator<=>(const Host&) const = default;
};

Gid gid_of(const Address& address);
/// A number for the channel adapter that the address stands for; it is not 0.
std::uint64_t guid_of(const Address& address);
Host host_of(const Address& address);
/// For the invariant CRC of packets from one to the other. Both are of one family.
rdma::infiniband::IpRoute route_of(const Address& source, const Address& destination);
/// For the private data of a request from `own` to `peer`. The port is the initiator's.
rdma::infiniband::IpHeader ip_header_of(const Address& own, const Address& peer,
                                        std::uint16_t port);
/// The same address with the UDP port of RoCEv2.
Address roce_address(const Address& address);
bool is_loopback(const Address& address);
bool is_link_local(const Address& address);
/// Whether it is one address of an interface rather than all of them.
bool is_specific(const Address& address);
bool is_ipv4(const Address& address);
Address ipv4_address(std::uint32_t host_order, std::uint16_t port);
/// IPv4 before IPv6, otherwise in the same order. IPv4-mapped addresses of IPv6 become IPv4.
std::vector<Address> ipv4_first(std::vector<Address> addresses);
/// The addresses of a URL's host, as `resolve` and in that order.
Expected<std::vector<Address>, Error> resolve_hosts(const Url& url, bool passive);

}  // namespace steertag::fabric::roce
