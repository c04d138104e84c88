// Sockets of ended connections whose last octets must still arrive.
//
// These octets are a Terminate or a reject. An immediate close, while the peer sends, would reset
// the stream and destroy them.
#pragma once

#include <memory>
#include <vector>

#include "fabric/net_names.h"

namespace steertag::fabric::iwarp {

/// At most this many sockets; beyond that the oldest is closed.
inline constexpr std::size_t kMostLingering = 1024;
/// Up to this many octets of a peer that keeps sending are dropped. Then the stream is reset.
inline constexpr std::size_t kMostLingerBytes = 16 * 1024 * 1024;

class LingeringSockets {
 public:
  explicit LingeringSockets(Reactor& reactor);
  ~LingeringSockets();
  LingeringSockets(const LingeringSockets&) = delete;
  LingeringSockets& operator=(const LingeringSockets&) = delete;

  /// Ends our half of the stream and drops received octets until the peer ends its half, or until
  /// `deadline`.
  void adopt(Socket socket, Time deadline);
  /// Destroys ended sockets. Never call it from inside a channel's call.
  void sweep();

 private:
  class One;
  Reactor& reactor_;
  std::vector<std::unique_ptr<One>> sockets_;
};

}  // namespace steertag::fabric::iwarp
