// Control messages over a UNIX stream socket, without waiting.
#pragma once

#include <functional>
#include <string>

#include "net/socket.h"
#include "server/v4/pnfs/control/messages.h"

namespace steertag::peer::control {

/// Octets that wait because the other side does not read: some ten thousand Revokes.
inline constexpr std::size_t kMostUnsentOctets = std::size_t{1} << 20;

class ControlStream {
 public:
  /// A connected socket that does not block.
  explicit ControlStream(net::Socket socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.fd(); }
  /// Sends what the socket takes; the rest waits for `flush`.
  void send(const Message& message);
  void flush();
  bool has_unsent() const { return !out_.empty(); }
  /// Reads what is there, and gives each message to `take`, which may end the stream.
  void receive(const std::function<void(const Message&)>& take);

  /// Why the stream is over, a clause; empty: it is not.
  const std::string& end() const { return end_; }
  /// Whether the other side ended it, or is gone. Otherwise it is this side that does not go on.
  bool ended_by_peer() const { return ended_by_peer_; }
  /// This side does not go on, for this reason.
  void stop(std::string why);
  /// After its end, so that the other side sees it.
  void close() { socket_.close(); }

 private:
  /// By an errno.
  void lose(int code);
  /// Takes whole messages off the octets that have come.
  void take_messages(const std::function<void(const Message&)>& take);

  net::Socket socket_;
  Bytes in_;
  Bytes out_;
  std::string end_;
  bool ended_by_peer_ = false;
};

/// Whether the process at the other end runs as this user or as root; errors are no.
bool is_trusted_peer(const net::Socket& socket);

}  // namespace steertag::peer::control
