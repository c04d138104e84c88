// Non-blocking TCP sockets without Nagle, addressed by URL.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "net/url.h"

namespace steertag::net {

/// At most this many addresses of one name are tried.
inline constexpr std::size_t kMostAddresses = 16;

/// An open file descriptor, or none.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : fd_(other.release()) {}
  Socket& operator=(Socket&& other) noexcept;

  int fd() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  int release();
  void close();
  /// Closes with a reset instead of an orderly end.
  void reset();
  /// Shuts down our half of the stream.
  void end();

 private:
  int fd_ = -1;
};

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  std::string text() const;  // "127.0.0.1:20049", "[::1]:20049"
  std::string host() const;  // "127.0.0.1", "::1"
  std::uint16_t port() const;
  /// For the system's calls.
  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&storage); }
};

Address with_port(Address address, std::uint16_t port);

/// Addresses of a URL's host in the resolver's order. Numeric addresses need no look-up. A name
/// blocks until the system's resolver returns.
Expected<std::vector<Address>, Error> resolve(const Url& url, bool passive);

/// A non-blocking stream socket for such an address; errno on failure.
Socket make_socket(const Address& address);
/// Binds the socket to this numeric address of the peer's family, or with none to any, and to this
/// port; 0: any. Neither binds nothing. False: errno.
bool bind_from(const Socket& socket, const Address& peer, const std::string& host,
               std::uint16_t port);
/// Our address of a bound socket.
Address local_address(const Socket& socket);
/// The peer's address of a connected socket.
Address peer_address(const Socket& socket);
/// Accepts a connection of a listening socket, with its address; errno on failure.
Socket accept_from(const Socket& listening, Address& peer);
/// Sends small messages at once (no Nagle).
void set_no_delay(const Socket& socket);
/// TCP's effective maximum segment size (EMSS).
std::size_t emss(const Socket& socket);

/// Text of an errno value.
std::string error_text(int code);

}  // namespace steertag::net
