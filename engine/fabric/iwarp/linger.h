// Sockets whose connection is over but whose last octets (a Terminate, a reject) must still arrive:
// closing at once while the peer sends would reset the stream and destroy them.
#pragma once

#include <memory>
#include <vector>

#include "fabric/net_names.h"

namespace steertag::fabric::iwarp {

/// Sockets kept at a time; the oldest is closed when one more comes.
inline constexpr std::size_t kMostLingering = 1024;
/// Octets of a peer that keeps sending are dropped up to here, then the stream is reset.
inline constexpr std::size_t kMostLingerBytes = 16 * 1024 * 1024;

class LingeringSockets {
 public:
  explicit LingeringSockets(Reactor& reactor);
  ~LingeringSockets();
  LingeringSockets(const LingeringSockets&) = delete;
  LingeringSockets& operator=(const LingeringSockets&) = delete;

  /// Ends our half of the stream and drops what comes until the peer ends its half, or until
  /// `deadline`.
  void adopt(Socket socket, Time deadline);
  /// Destroys what has ended; never from inside a channel's call.
  void sweep();

 private:
  class One;
  Reactor& reactor_;
  std::vector<std::unique_ptr<One>> sockets_;
};

}  // namespace steertag::fabric::iwarp
