// Compares inherited sockets with the command line.
#include "serve/handed_over.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "net/inherited_sockets.h"

namespace steertag::serve {
namespace {

bool takes_over(const net::Url& url, const net::Address& bound) {
  const bool is_tcp = url.provider == "iwarp" || url.provider == net::kStreamProvider;
  if (!is_tcp || url.port != bound.port()) return false;
  const auto wanted = net::resolve(url, true);
  return wanted && std::ranges::any_of(
                       *wanted, [&](const net::Address& each) { return net::covers(bound, each); });
}

Unexpected<std::string> refuse(const std::string& what) {
  return Unexpected<std::string>("cannot take over a socket: " + what);
}

}  // namespace

Expected<void, std::string> check_inherited_sockets(std::span<const net::Url> urls) {
  for (const int descriptor : net::inherited_descriptors()) {
    if (!net::is_listening(descriptor))
      return refuse("descriptor " + std::to_string(descriptor) + " does not listen for TCP");
    const net::Address bound = net::address_of(descriptor);
    const auto fits = [&](const net::Url& url) { return takes_over(url, bound); };
    if (std::ranges::none_of(urls, fits))
      return refuse("no --listen URL of iwarp or tcp names " + bound.text());
  }
  return {};
}

void forget_inherited_sockets() {
  for (const int descriptor : net::inherited_descriptors()) ::close(descriptor);
  for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(variable);
}

}  // namespace steertag::serve
