// The way to a peer, as the system knows it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "fabric/net_names.h"
#include "fabric/roce/packets/limits.h"

namespace steertag::fabric::roce {

struct Route {
  /// Octets of an IP packet that the interface takes.
  std::uint32_t mtu = 0;
  /// Local addresses from which the peer is reached. The system's choice comes first. There is at
  /// least one, and kMostSources follow at most.
  std::vector<Address> sources;
};

/// Finds the route to an address. It may be one of this machine. Over IPv6 the system then chooses
/// the peer's own address, and others follow.
using FindRoute = std::function<Expected<Route, Error>(const Address& peer)>;

/// The code of the largest path MTU, at most `most` octets, whose packets to the peer fit the
/// interface.
std::uint8_t path_mtu_towards(const Address& peer, const FindRoute& find_route, std::uint32_t most);

/// The same for a known number of octets of an IP packet.
std::uint8_t path_mtu_within(std::uint32_t mtu, bool ipv4, std::uint32_t most);
/// Octets of an IP packet that the interface with this address takes, asked by any socket. Nothing
/// if no interface has the address, as with most of 127/8.
std::optional<std::uint32_t> interface_mtu(const Address& local, const Socket& socket);

/// The route of this machine.
Expected<Route, Error> system_route(const Address& peer);

/// Those of a machine's IPv6 addresses from which another one of them is reached, at most
/// kMostSources.
std::vector<Address> sources_beside(const Address& peer, std::vector<Address> addresses);

}  // namespace steertag::fabric::roce
