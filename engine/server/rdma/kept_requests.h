// What deviations keep from one request of a session to the next, over all connections of a server.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "support/bytes.h"

namespace steertag::peer {

class ServerConnection;
struct SessionRequest;

class KeptRequests {
 public:
  /// More than a run of the suite makes; then all are forgotten.
  static constexpr std::size_t kMost = 65536;

  /// The XID of the request that came first in this place; nothing if this one is the first.
  std::optional<std::uint32_t> first_xid(const SessionRequest& request, std::uint32_t xid);
  /// The connection over which the session was used first; `connection` if there is none.
  ServerConnection& first_connection(const SessionRequest& request, ServerConnection& connection);
  /// The connection is down. `reply` is what it sent last, if a deviation kept it.
  void forget(const ServerConnection& connection, std::optional<Bytes> reply);
  /// A reply whose connection is down, once.
  std::optional<Bytes> take_lost_reply();

 private:
  std::map<std::string, std::uint32_t> xids_;             // by place
  std::map<std::string, ServerConnection*> connections_;  // by session
  std::optional<Bytes> lost_reply_;
};

}  // namespace steertag::peer
