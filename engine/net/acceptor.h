// A listening socket in an event loop: gives its owner every connection that arrives.
#pragma once

#include <functional>
#include <memory>

#include "net/reactor.h"

namespace steertag::net {

/// How long an acceptor does without accepting when the system gives it no descriptor: sockets wait
/// in the backlog meanwhile. Ten attempts a second cost nothing, and a person who waits for a
/// connection does not notice.
inline constexpr std::chrono::milliseconds kAcceptPause{100};

/// A bound and listening socket at the first of the URL's addresses that allows it.
Expected<Socket, Error> listen_at(const Url& url);

class Acceptor final : public Channel {
 public:
  /// A new connection, non-blocking and without Nagle.
  using Taken = std::function<void(Socket socket, const Address& peer)>;
  /// The system gives no further descriptors; told once until one is given again.
  using Starved = std::function<void(const Error& error)>;

  /// `reactor` must outlive it; neither callback may destroy it.
  static Expected<std::unique_ptr<Acceptor>, Error> open(Reactor& reactor, const Url& url,
                                                         Taken taken, Starved starved);
  ~Acceptor() override { reactor_.remove(key_); }
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// Where it listens really.
  Address address() const { return local_address(socket_); }

 private:
  Acceptor(Reactor& reactor, Socket socket, Taken taken, Starved starved)
      : reactor_(reactor),
        socket_(std::move(socket)),
        taken_(std::move(taken)),
        starved_(std::move(starved)) {}
  void on_ready(std::uint32_t events) override;
  void on_deadline() override;
  void on_no_socket(int code);

  Reactor& reactor_;
  Socket socket_;
  Taken taken_;
  Starved starved_;
  Reactor::Key key_ = 0;
  bool is_starved_ = false;  // the last attempt to accept failed for want of descriptors
};

}  // namespace steertag::net
