// A listening socket in an event loop: passes every new connection to its owner.
#pragma once

#include <functional>
#include <memory>

#include "net/reactor.h"

namespace steertag::net {

/// The pause after the system ran out of descriptors. New connections wait in the backlog. Ten
/// attempts a second cost nothing, and users do not notice the delay.
inline constexpr std::chrono::milliseconds kAcceptPause{100};

/// A bound and listening socket on the first of the URL's addresses that can be used.
Expected<Socket, Error> listen_at(const Url& url);

/// The error of a failed accept(2), by its errno.
Error accept_error(int code);

class Acceptor final : public Channel {
 public:
  /// A new connection, non-blocking and without Nagle.
  using Taken = std::function<void(Socket socket, const Address& peer)>;
  /// The system has no more descriptors. Reported once until an accept succeeds.
  using Starved = std::function<void(const Error& error)>;

  /// `reactor` must outlive it; neither callback may destroy it.
  static Expected<std::unique_ptr<Acceptor>, Error> open(Reactor& reactor, const Url& url,
                                                         Taken taken, Starved starved);
  ~Acceptor() override { reactor_.remove(key_); }
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// The bound address.
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
  bool is_starved_ = false;  // the last accept failed for lack of descriptors
};

}  // namespace steertag::net
