// Addresses as text.
#include "capture/datagram.h"

#include <arpa/inet.h>

#include <algorithm>

namespace steertag::capture {
namespace {

// RFC 4291 2.5.5.2: ten zero octets and two of ones precede an IPv4 address.
constexpr std::size_t kZeros = 10;
constexpr std::size_t kMappedBytes = 12;

}  // namespace

bool IpAddress::is_ipv4() const {
  const auto mapped = octets.begin() + kMappedBytes;
  return std::all_of(octets.begin(), octets.begin() + kZeros,
                     [](std::byte octet) { return octet == std::byte{0}; }) &&
         std::all_of(octets.begin() + kZeros, mapped,
                     [](std::byte octet) { return octet == std::byte{0xff}; });
}

std::string IpAddress::text() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (is_ipv4()) {
    inet_ntop(AF_INET, octets.data() + kMappedBytes, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, octets.data(), text, sizeof text);
  }
  return text;
}

}  // namespace steertag::capture
