// Listens and accepts.
#include "net/acceptor.h"

#include <sys/epoll.h>

#include <cerrno>
#include <utility>

#include "net/inherited_sockets.h"

namespace steertag::net {
namespace {

constexpr int kBacklog = 1024;
constexpr int kMostAcceptsPerTurn = 64;

}  // namespace

Expected<Socket, Error> listen_at(const Url& url) {
  const auto addresses = resolve(url, true);
  if (!addresses) return tl::unexpected(addresses.error());
  std::string last = "no address";
  for (const Address& address : *addresses) {
    if (auto inherited = inherited_socket(address)) return std::move(*inherited);
    Socket socket = make_socket(address);
    const int on = 1;
    if (socket.open() && ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        ::bind(socket.fd(), address.generic(), address.length) == 0 &&
        ::listen(socket.fd(), kBacklog) == 0)
      return socket;
    last = address.text() + ": " + error_text(errno);
  }
  return tl::unexpected(Error{Errc::cannot_listen, last});
}

Error accept_error(int code) {
  const bool lacks_descriptors = code == EMFILE || code == ENFILE;
  return {lacks_descriptors ? Errc::no_descriptors : Errc::cannot_listen,
          "accept: " + error_text(code)};
}

Expected<std::unique_ptr<Acceptor>, Error> Acceptor::open(Reactor& reactor, const Url& url,
                                                          Taken taken, Starved starved) {
  auto socket = listen_at(url);
  if (!socket) return tl::unexpected(std::move(socket.error()));
  std::unique_ptr<Acceptor> acceptor(
      new Acceptor(reactor, std::move(*socket), std::move(taken), std::move(starved)));
  const auto key = reactor.add(*acceptor, acceptor->socket_.fd(), EPOLLIN);
  if (!key) return tl::unexpected(Error{Errc::cannot_listen, key.error().message()});
  acceptor->key_ = *key;
  return acceptor;
}

void Acceptor::on_ready(std::uint32_t /*events*/) {
  for (int i = 0; i < kMostAcceptsPerTurn; ++i) {
    Address peer;
    Socket socket = accept_from(socket_, peer);
    if (!socket.open()) return on_no_socket(errno);
    is_starved_ = false;
    set_no_delay(socket);
    taken_(std::move(socket), peer);
  }
}

void Acceptor::on_no_socket(int code) {
  // After these errors the waiting socket is gone, or there was none. After others it still waits,
  // and would end every round at once.
  if (code == EAGAIN || code == EINTR || code == ECONNABORTED) return;
  reactor_.watch(key_, 0);
  reactor_.set_deadline(key_, after(reactor_.round_time(), kAcceptPause));
  if (!std::exchange(is_starved_, true)) starved_(accept_error(code));
}

void Acceptor::on_deadline() {
  reactor_.watch(key_, EPOLLIN);
}

}  // namespace steertag::net
