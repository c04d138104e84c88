// The parts of a peer's name: "192.0.2.1:4711".
#pragma once

#include <cstdint>
#include <string>

namespace steertag::peer {

/// Without the port: retries come from another one.
std::string host_of(const std::string& peer_name);
/// 0 where the name has none.
std::uint16_t port_of(const std::string& peer_name);

}  // namespace steertag::peer
