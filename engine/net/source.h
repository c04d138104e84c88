// Whom a limit by source address counts a connection for.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <string>

#include "net/socket.h"

namespace steertag::net {

/// An IPv4 address, or the /64 network of an IPv6 address: a host may use every address of its
/// network (RFC 4291 2.5.4). An IPv4-mapped address is the IPv4 address in it. A link-local address
/// is a source of its own, because all neighbours share their network.
class Source {
 public:
  explicit Source(const Address& address);
  auto operator<=>(const Source&) const = default;
  std::string text() const;  // "192.0.2.7", "2001:db8:0:1::/64", "fe80::1"

 private:
  std::array<std::byte, 16> octets_{};  // as in6_addr; IPv4 is mapped
  bool is_network_ = false;
};

}  // namespace steertag::net
