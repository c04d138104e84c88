// Addresses of RoCEv2: a global identifier is an IPv6 address, or a mapped IPv4 address.
#pragma once

#include <array>
#include <cstddef>

#include "fabric/net_names.h"
#include "rdma/infiniband/invariant_crc.h"

namespace steertag::fabric::roce {

using Gid = std::array<std::byte, 16>;

Gid gid_of(const Address& address);
/// For the invariant CRC of packets from one to the other. Both are of IPv4.
rdma::infiniband::Ipv4Route route_of(const Address& source, const Address& destination);
/// The same address with the UDP port of RoCEv2.
Address roce_address(const Address& address);
bool is_loopback(const Address& address);
/// Whether it is one address of an interface rather than all of them.
bool is_specific(const Address& address);
bool is_ipv4(const Address& address);
Address ipv4_address(std::uint32_t host_order, std::uint16_t port);

}  // namespace steertag::fabric::roce
