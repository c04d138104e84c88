// The way to a peer, as the system knows it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fabric/net_names.h"

namespace steertag::fabric::roce {

/// Addresses that a client towards its own machine tries. Each may be in use.
inline constexpr std::size_t kMostSources = 64;

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

/// The route of this machine.
Expected<Route, Error> system_route(const Address& peer);

/// Those of a machine's IPv6 addresses from which another one of them is reached, at most
/// kMostSources.
std::vector<Address> sources_beside(const Address& peer, std::vector<Address> addresses);

}  // namespace steertag::fabric::roce
