// Sockets, addresses and their options.
#include "net/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

namespace steertag::net {
Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = other.release();
  }
  return *this;
}

int Socket::release() {
  return std::exchange(fd_, -1);
}

void Socket::close() {
  if (open()) {
    ::close(release());
  }
}

void Socket::reset() {
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

void Socket::end() {
  ::shutdown(fd_, SHUT_WR);
}

std::string Address::text() const {
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (::getnameinfo(generic(), length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "unknown address";
  }
  const bool six = storage.ss_family == AF_INET6;
  return (six ? "[" + std::string(host) + "]" : std::string(host)) + ":" + port;
}

std::string Address::host() const {
  char host[NI_MAXHOST];
  const int code = ::getnameinfo(generic(), length, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  return code == 0 ? host : "";
}

Expected<std::vector<Address>, Error> resolve(const Url& url, bool passive) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int code =
      ::getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &found);
  if (code != 0) {
    return tl::unexpected(
        Error{Errc::name_not_found, "\"" + url.host + "\": " + ::gai_strerror(code)});
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* each = found; each != nullptr && addresses.size() < kMostAddresses;
       each = each->ai_next) {
    Address& address = addresses.emplace_back();
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.length = each->ai_addrlen;
  }
  return addresses;
}

Address with_port(Address address, std::uint16_t port) {
  if (address.storage.ss_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, &address.storage, sizeof six);
    six.sin6_port = htons(port);
    std::memcpy(&address.storage, &six, sizeof six);
  } else {
    sockaddr_in four{};
    std::memcpy(&four, &address.storage, sizeof four);
    four.sin_port = htons(port);
    std::memcpy(&address.storage, &four, sizeof four);
  }
  return address;
}

std::uint16_t Address::port() const {
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, &storage, sizeof six);
    return ntohs(six.sin6_port);
  }
  sockaddr_in four{};
  std::memcpy(&four, &storage, sizeof four);
  return ntohs(four.sin_port);
}

Socket make_socket(const Address& address) {
  return Socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

bool bind_from(const Socket& socket, const Address& peer, const std::string& host,
               std::uint16_t port) {
  if (port == 0 && host.empty()) return true;
  Address ours;
  ours.length = peer.length;
  ours.storage.ss_family = peer.storage.ss_family;  // the rest is zero, which is any address
  if (!host.empty()) {
    const auto found = resolve({{}, host, 0, {}}, true);
    if (!found || found->front().storage.ss_family != peer.storage.ss_family) {
      errno = EADDRNOTAVAIL;
      return false;
    }
    ours = found->front();
  }
  ours = with_port(ours, port);
  const int on = 1;  // the connection before may be in TIME-WAIT
  return ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
         ::bind(socket.fd(), ours.generic(), ours.length) == 0;
}

Address local_address(const Socket& socket) {
  Address address;
  address.length = sizeof address.storage;
  ::getsockname(socket.fd(), address.generic(), &address.length);
  return address;
}

Address peer_address(const Socket& socket) {
  Address address;
  address.length = sizeof address.storage;
  ::getpeername(socket.fd(), address.generic(), &address.length);
  return address;
}

Socket accept_from(const Socket& listening, Address& peer) {
  peer.length = sizeof peer.storage;
  return Socket(
      ::accept4(listening.fd(), peer.generic(), &peer.length, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

void set_no_delay(const Socket& socket) {
  const int on = 1;
  ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::size_t emss(const Socket& socket) {
  constexpr int kSmallest = 536;  // RFC 9293 3.7.1: the default without further knowledge
  int value = 0;
  socklen_t length = sizeof value;
  if (::getsockopt(socket.fd(), IPPROTO_TCP, TCP_MAXSEG, &value, &length) != 0 || value <= 0) {
    value = kSmallest;
  }
  return static_cast<std::size_t>(value);
}

std::string error_text(int code) {
  return std::system_category().message(code);
}

}  // namespace steertag::net
