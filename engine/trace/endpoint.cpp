// Reads numeric addresses.
#include "trace/endpoint.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

namespace steertag::trace {
namespace {

constexpr std::array<std::byte, 12> kMappedPrefix = {
    std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0},    std::byte{0},
    std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0xff}, std::byte{0xff}};

}  // namespace

bool Endpoint::is_ipv4() const {
  return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), address.begin());
}

std::optional<Endpoint> parse_endpoint(std::string_view address, std::uint16_t port) {
  const std::string text(address);
  Endpoint endpoint{.address = {}, .port = port};
  if (inet_pton(AF_INET6, text.c_str(), endpoint.address.data()) == 1) return endpoint;
  std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), endpoint.address.begin());
  if (inet_pton(AF_INET, text.c_str(), endpoint.address.data() + kMappedPrefix.size()) == 1)
    return endpoint;
  return std::nullopt;
}

}  // namespace steertag::trace
