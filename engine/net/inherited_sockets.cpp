// Reads LISTEN_PID and LISTEN_FDS. Their sockets are told apart by their addresses.
#include "net/inherited_sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace steertag::net {
namespace {

constexpr int kFirstDescriptor = 3;  // SD_LISTEN_FDS_START

std::optional<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return {};
  const std::string_view digits(text);
  int value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return {};
  return value;
}

int option_of(int descriptor, int option) {
  int value = 0;
  socklen_t length = sizeof value;
  return ::getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : -1;
}

}  // namespace

std::vector<int> inherited_descriptors() {
  const auto process = number_in("LISTEN_PID");
  const auto count = number_in("LISTEN_FDS");
  std::vector<int> descriptors;
  if (!process || *process != ::getpid() || !count) return descriptors;
  for (int i = 0; i < std::min(*count, kMostInheritedSockets); ++i)
    descriptors.push_back(kFirstDescriptor + i);
  return descriptors;
}

bool is_listening(int descriptor) {
  const int domain = option_of(descriptor, SO_DOMAIN);
  return (domain == AF_INET || domain == AF_INET6) &&
         option_of(descriptor, SO_PROTOCOL) == IPPROTO_TCP &&
         option_of(descriptor, SO_ACCEPTCONN) == 1;
}

Address address_of(int descriptor) {
  Socket borrowed(descriptor);
  const Address address = local_address(borrowed);
  borrowed.release();
  return address;
}

bool covers(const Address& bound, const Address& wanted) {
  if (bound.port() != wanted.port()) return false;
  const std::string host = bound.host();
  return host == "0.0.0.0" || host == "::" || host == wanted.host();
}

std::optional<Socket> inherited_socket(const Address& wanted) {
  for (const int descriptor : inherited_descriptors()) {
    if (!is_listening(descriptor) || !covers(address_of(descriptor), wanted)) continue;
    Socket socket(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    const int flags = ::fcntl(socket.fd(), F_GETFL);
    if (flags >= 0 && ::fcntl(socket.fd(), F_SETFL, flags | O_NONBLOCK) == 0) return socket;
  }
  return {};
}

}  // namespace steertag::net
