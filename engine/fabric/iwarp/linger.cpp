// Draining of sockets until their peer ends the stream.
#include "fabric/iwarp/linger.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

namespace steertag::fabric::iwarp {

class LingeringSockets::One final : public Channel {
 public:
  One(Reactor& reactor, Socket socket, Time deadline)
      : reactor_(reactor), socket_(std::move(socket)) {
    socket_.end();
    const auto key = reactor_.add(*this, socket_.fd(), EPOLLIN);
    if (!key) {
      socket_.close();
      return;
    }
    key_ = *key;
    reactor_.set_deadline(key_, deadline);
  }
  ~One() override { reactor_.remove(key_); }

  void on_ready(std::uint32_t /*events*/) override {
    std::byte dropped[16 * 1024];
    const ssize_t count = ::recv(socket_.fd(), dropped, sizeof dropped, MSG_DONTWAIT);
    if (count > 0) {
      dropped_ += static_cast<std::size_t>(count);
      if (dropped_ > kMostLingerBytes) {
        end();
      }
      return;
    }
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      end();
    }
  }
  void on_deadline() override { end(); }
  bool ended() const { return !socket_.open(); }

 private:
  void end() {
    reactor_.remove(key_);
    socket_.close();
  }

  Reactor& reactor_;
  Socket socket_;
  Reactor::Key key_ = 0;
  std::size_t dropped_ = 0;
};

LingeringSockets::LingeringSockets(Reactor& reactor) : reactor_(reactor) {}

LingeringSockets::~LingeringSockets() = default;

void LingeringSockets::adopt(Socket socket, Time deadline) {
  if (!socket.open()) {
    return;
  }
  sockets_.push_back(std::make_unique<One>(reactor_, std::move(socket), deadline));
}

void LingeringSockets::sweep() {
  std::erase_if(sockets_, [](const std::unique_ptr<One>& one) { return one->ended(); });
  if (sockets_.size() > kMostLingering) {
    sockets_.erase(sockets_.begin(), sockets_.end() - static_cast<std::ptrdiff_t>(kMostLingering));
  }
}

}  // namespace steertag::fabric::iwarp
