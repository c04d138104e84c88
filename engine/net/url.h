// A server's address: URLs of every transport.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/error.h"
#include "support/expected.h"

namespace steertag::net {

/// The name of plain TCP in URLs.
inline constexpr std::string_view kStreamProvider = "tcp";
/// The ports of NFS over RDMA (RFC 8267 9) and of NFS.
inline constexpr std::uint16_t kRdmaPort = 20049;
inline constexpr std::uint16_t kStreamPort = 2049;

/// `provider://host[:port][/export]`. The host is a name, IPv4 or [IPv6]. The default port is
/// kRdmaPort, or kStreamPort over plain TCP.
struct Url {
  std::string provider;
  std::string host;
  std::uint16_t port = kRdmaPort;
  std::string path;  // with its leading slash; empty if there is none
  std::string text() const;
};
Expected<Url, Error> parse_url(std::string_view text);

}  // namespace steertag::net
