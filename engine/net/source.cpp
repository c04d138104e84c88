// From socket addresses to sources.
#include "net/source.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace steertag::net {
namespace {

constexpr std::size_t kNetworkOctets = 8;
constexpr std::size_t kMappedPrefixOctets = 12;

}  // namespace

Source::Source(const Address& address) {
  in6_addr six{};
  if (address.storage.ss_family == AF_INET6) {
    sockaddr_in6 whole{};
    std::memcpy(&whole, &address.storage, sizeof whole);
    six = whole.sin6_addr;
  } else {
    sockaddr_in four{};
    std::memcpy(&four, &address.storage, sizeof four);
    six.s6_addr[10] = six.s6_addr[11] = 0xff;
    std::memcpy(six.s6_addr + kMappedPrefixOctets, &four.sin_addr, sizeof four.sin_addr);
  }
  std::memcpy(octets_.data(), &six, sizeof six);
  is_network_ = !IN6_IS_ADDR_V4MAPPED(&six) && !IN6_IS_ADDR_LINKLOCAL(&six);
  if (is_network_) std::fill(octets_.begin() + kNetworkOctets, octets_.end(), std::byte{0});
}

std::string Source::text() const {
  in6_addr six{};
  std::memcpy(&six, octets_.data(), sizeof six);
  char text[INET6_ADDRSTRLEN] = "";
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    ::inet_ntop(AF_INET, six.s6_addr + kMappedPrefixOctets, text, sizeof text);
    return text;
  }
  ::inet_ntop(AF_INET6, &six, text, sizeof text);
  return is_network_ ? std::string(text) + "/64" : text;
}

}  // namespace steertag::net
