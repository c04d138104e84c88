// Where a server is: URLs of every transport.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/error.h"
#include "support/expected.h"

namespace steertag::net {

/// `provider://host[:port][/export]`; host is a name, IPv4 or [IPv6]; port 20049 by default.
struct Url {
  std::string provider;
  std::string host;
  std::uint16_t port = 20049;
  std::string path;  // with its leading slash; empty if there is none
  std::string text() const;
};
Expected<Url, Error> parse_url(std::string_view text);

}  // namespace steertag::net
