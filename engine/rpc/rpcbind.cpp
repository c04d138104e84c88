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

namespace {

struct Place {
  std::string_view host;
  std::uint16_t port = 0;
};

std::optional<Place> place_of(std::string_view universal_address) {
  Place place{universal_address, 0};
  for (int i = 0; i < 2; ++i) {  // the two octets of the port, the lower one first
    const std::size_t dot = place.host.rfind('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const std::string_view octet = place.host.substr(dot + 1);
    std::uint8_t value = 0;
    const auto [end, code] = std::from_chars(octet.data(), octet.data() + octet.size(), value);
    if (code != std::errc() || end != octet.data() + octet.size()) return std::nullopt;
    place.port = static_cast<std::uint16_t>(place.port | value << (8 * i));
    place.host = place.host.substr(0, dot);
  }
  if (place.host.empty()) return std::nullopt;
  return place;
}

}  // namespace

std::optional<std::string_view> host_of(std::string_view universal_address) {
  const auto place = place_of(universal_address);
  return place ? std::optional(place->host) : std::nullopt;
}

std::optional<std::uint16_t> port_of(std::string_view universal_address) {
  const auto place = place_of(universal_address);
  return place ? std::optional(place->port) : std::nullopt;
}

}  // namespace steertag::rpcbind
