// Parses and prints URLs.
#include <charconv>

#include "net/url.h"

namespace steertag::net {
namespace {

Unexpected<Error> bad(std::string_view text, std::string_view what) {
  return tl::unexpected(
      Error{Errc::bad_url, "\"" + std::string(text) + "\": " + std::string(what)});
}

}  // namespace

std::string Url::text() const {
  const bool literal6 = host.find(':') != std::string::npos;
  return provider + "://" + (literal6 ? "[" + host + "]" : host) + ":" + std::to_string(port) +
         path;
}

Expected<Url, Error> parse_url(std::string_view text) {
  Url url;
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || scheme == 0) {
    return bad(text, "a URL is provider://host[:port][/export]");
  }
  url.provider = text.substr(0, scheme);
  if (url.provider == kStreamProvider) url.port = kStreamPort;
  std::string_view rest = text.substr(scheme + 3);
  const std::size_t slash = rest.find('/');
  if (slash != std::string_view::npos) {
    url.path = rest.substr(slash);
    rest = rest.substr(0, slash);
  }
  if (!rest.empty() && rest.front() == '[') {
    const std::size_t bracket = rest.find(']');
    if (bracket == std::string_view::npos) {
      return bad(text, "the bracket of the IPv6 address is not closed");
    }
    url.host = rest.substr(1, bracket - 1);
    rest = rest.substr(bracket + 1);
    if (!rest.empty() && rest.front() != ':') {
      return bad(text, "only :port may follow the IPv6 address");
    }
  } else {
    url.host = rest.substr(0, rest.find(':'));
    rest = rest.substr(url.host.size());
  }
  if (url.host.empty()) {
    return bad(text, "the host is missing");
  }
  if (url.host.find('\0') != std::string::npos) {
    return bad(text, "the host contains a NUL");
  }
  if (!rest.empty()) {
    const std::string_view port = rest.substr(1);
    const auto [end, errc] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (errc != std::errc{} || end != port.data() + port.size()) {
      return bad(text, "the port is not a number from 0 to 65535 (IPv6 addresses need brackets)");
    }
  }
  return url;
}

}  // namespace steertag::net
