// Listens at a path, and connects to it.
#include "net/unix_socket.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace steertag::net {
namespace {

constexpr int kUnixBacklog = 128;

Socket make() {
  return Socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

Error error_at(Errc code, const std::string& path, const std::string& why) {
  return {code, path + ": " + why};
}

/// Connects, binds or does another call that takes an address.
bool with_address(const Socket& socket, const std::string& path,
                  int (*call)(int, const sockaddr*, socklen_t)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(path, address.sun_path);
  return call(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

bool fits(const std::string& path) {
  return !path.empty() && path.size() < sizeof(sockaddr_un::sun_path) &&
         path.find('\0') == std::string::npos;
}

std::string bad_path() {
  return "the name of a socket has 1 to " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
         " octets";
}

/// Whether a socket lies there that nothing listens at.
bool is_left_over(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  const Socket socket = make();
  return socket.open() && !with_address(socket, path, ::connect) && errno == ECONNREFUSED;
}

}  // namespace

Expected<Socket, Error> listen_unix(const std::string& path) {
  const auto fail = [&](const std::string& why) {
    return tl::unexpected(error_at(Errc::cannot_listen, path, why));
  };
  if (!fits(path)) return fail(bad_path());
  Socket socket = make();
  if (!socket.open()) return fail(error_text(errno));
  if (is_left_over(path)) ::unlink(path.c_str());
  const mode_t before = ::umask(0177);
  const bool bound = with_address(socket, path, ::bind);
  const int code = errno;
  ::umask(before);
  if (!bound) return fail(error_text(code));
  if (::listen(socket.fd(), kUnixBacklog) != 0) return fail(error_text(errno));
  return socket;
}

Expected<Socket, Error> connect_unix(const std::string& path) {
  const auto fail = [&](const std::string& why) {
    return tl::unexpected(error_at(Errc::cannot_connect, path, why));
  };
  if (!fits(path)) return fail(bad_path());
  Socket socket = make();
  if (!socket.open() || !with_address(socket, path, ::connect)) return fail(error_text(errno));
  return socket;
}

}  // namespace steertag::net
