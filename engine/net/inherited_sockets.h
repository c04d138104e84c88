// The listening sockets that a service manager hands over (sd_listen_fds(3)).
#pragma once

#include <optional>
#include <vector>

#include "net/socket.h"

namespace steertag::net {

/// Far more than a server has addresses.
inline constexpr int kMostInheritedSockets = 64;

/// The descriptors that LISTEN_FDS names, if LISTEN_PID is this process; at most
/// kMostInheritedSockets.
std::vector<int> inherited_descriptors();

/// Whether this is a TCP socket that listens.
bool is_listening(int descriptor);

/// The bound address of a descriptor, which keeps its owner.
Address address_of(int descriptor);

/// Whether a socket that listens at `bound` gets the connections to `wanted`: the same address, or
/// any address of the same port.
bool covers(const Address& bound, const Address& wanted);

/// A non-blocking duplicate of the inherited socket that covers `wanted`.
std::optional<Socket> inherited_socket(const Address& wanted);

}  // namespace steertag::net
