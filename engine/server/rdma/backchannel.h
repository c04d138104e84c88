// Backchannel: the server's calls over a client's connection (RFC 8167, RFC 8881 2.10.3.1).
#pragma once

#include <functional>

#include "net/error.h"
#include "support/bytes.h"
#include "support/expected.h"

namespace steertag::peer {

class Backchannel {
 public:
  /// Gets the whole RPC reply message (valid during the call), or why there is none. The connection
  /// is down, the callback timed out, or too many callbacks wait. Called exactly once, from inside
  /// poll, never from inside `call`.
  using Done = std::function<void(const Expected<View, net::Error>& reply)>;

  virtual ~Backchannel() = default;
  /// Sends `message`, an RPC call without reduced items, whose XID the channel replaces by one of
  /// its own.
  virtual void call(Bytes message, Done done) = 0;
  /// The largest call that can be sent, and the largest reply that can be received.
  virtual std::size_t largest_call() const = 0;
  virtual std::size_t largest_reply() const = 0;
};

}  // namespace steertag::peer
