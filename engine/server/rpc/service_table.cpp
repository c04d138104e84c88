// Services and their netids.
#include "server/rpc/service_table.h"

namespace steertag::peer {

bool is_any_address(std::string_view host) {
  return host == "0.0.0.0" || host == "::";
}

std::string ServiceTable::netid(const net::Url& place, std::string_view address) {
  std::string text = place.provider == net::kStreamProvider ? "tcp" : "rdma";
  if (address.find(':') != std::string_view::npos) text += '6';
  return text;
}

void ServiceTable::add(std::uint32_t program, std::uint32_t version, const net::Url& place,
                       const std::string& address) {
  services.push_back({program, version, netid(place, address), address, place.port});
}

}  // namespace steertag::peer
