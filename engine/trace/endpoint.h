// One end of a connection, as the headers of its packets name it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace steertag::trace {

/// An IP address with a TCP or UDP port. IPv4 addresses are held in their IPv4-mapped IPv6 form.
struct Endpoint {
  std::array<std::byte, 16> address{};
  std::uint16_t port = 0;
  bool is_ipv4() const;
};

/// From numeric text ("192.0.2.1", "2001:db8::1"); nothing if it is neither.
std::optional<Endpoint> parse_endpoint(std::string_view address, std::uint16_t port);

}  // namespace steertag::trace
