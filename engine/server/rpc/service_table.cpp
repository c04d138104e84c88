// Services and their netids.
#include "server/rpc/service_table.h"

namespace steertag::peer {

bool is_any_address(std::string_view host) {
  return host == "0.0.0.0" || host == "::";
}

void ServiceTable::add(std::uint32_t program, std::uint32_t version, const net::Url& place,
                       const std::string& address) {
  std::string netid = place.provider == net::kStreamProvider ? "tcp" : "rdma";
  if (address.find(':') != std::string::npos) netid += '6';
  services.push_back({program, version, std::move(netid), address, place.port});
}

}  // namespace steertag::peer
