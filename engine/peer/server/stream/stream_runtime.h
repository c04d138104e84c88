// What the connections of a server's plain TCP transport share.
#pragma once

#include <memory>
#include <vector>

#include "net/reactor.h"
#include "peer/server/reply_payload.h"
#include "peer/server/server_context.h"

namespace steertag::peer {

/// A message on its way out, in parts that are gathered when it is sent: a marking word, then the
/// payload, whose eligible items stay in the storage's memory until they have left.
struct OutgoingMessage {
  std::array<std::byte, 4> mark{};
  ReplyPayload payload;
  std::size_t octets = 0;      // with the marking word
  std::size_t held_bytes = 0;  // what it has of the reply budget
};

struct StreamRuntime {
  StreamRuntime(ServerContext& its_context, net::Reactor its_reactor)
      : context(its_context), reactor(std::move(its_reactor)) {}

  ServerContext& context;
  net::Reactor reactor;
  Bytes read_buffer;                                    // kStreamReadBytes once it is used
  std::vector<View> parts;                              // reused while sending
  std::vector<std::unique_ptr<OutgoingMessage>> spare;  // at most kKeptMessages
  std::vector<std::uint64_t> ended;                     // connections that are down
  std::size_t notices = 0;                              // of the current poll
};

}  // namespace steertag::peer
