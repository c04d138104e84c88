// Codecs of rpcbind and universal addresses.
#include "rpc/rpcbind.h"

#include <algorithm>
#include <charconv>

namespace steertag::rpcbind {

STEERTAG_DEFINE_XDR(Service)
STEERTAG_DEFINE_XDR(UniversalAddress)
STEERTAG_DEFINE_XDR(ServiceList)

std::string universal_address(std::string_view host, std::uint16_t port) {
  return std::string(host) + "." + std::to_string(port >> 8) + "." + std::to_string(port & 0xff);
}

std::optional<std::string_view> host_of(std::string_view universal_address) {
  std::string_view host = universal_address;
  for (int i = 0; i < 2; ++i) {  // the two octets of the port
    const std::size_t dot = host.rfind('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const std::string_view octet = host.substr(dot + 1);
    std::uint8_t value = 0;
    const auto [end, code] = std::from_chars(octet.data(), octet.data() + octet.size(), value);
    if (code != std::errc() || end != octet.data() + octet.size()) return std::nullopt;
    host = host.substr(0, dot);
  }
  if (host.empty()) return std::nullopt;
  return host;
}

}  // namespace steertag::rpcbind
