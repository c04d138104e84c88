// Splits a peer's name.
#include "server/rdma/peer_name.h"

#include <charconv>

namespace steertag::peer {

std::string host_of(const std::string& peer_name) {
  return peer_name.substr(0, peer_name.rfind(':'));
}

std::uint16_t port_of(const std::string& peer_name) {
  std::uint16_t port = 0;
  const std::size_t colon = peer_name.rfind(':');
  const char* const end = peer_name.data() + peer_name.size();
  if (colon != std::string::npos) std::from_chars(peer_name.data() + colon + 1, end, port);
  return port;
}

}  // namespace steertag::peer
