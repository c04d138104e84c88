// What RPC-over-RDMA requires of a rebuilt call before and after its dispatch.
// The XIDs agree, and the upper-layer binding allows the chunks (RFC 8166 4.5.2, 6.1; RFC 8267).
#pragma once

#include <span>

#include "endpoint/chunk.h"
#include "server/rpc/dispatcher.h"
#include "server/rpc/outcome.h"

namespace steertag::peer {

/// One call as the transport rebuilt it.
struct RdmaCall {
  std::uint32_t xid = 0;              // of the transport header
  View message;                       // unreduced
  std::span<const ReadChunk> chunks;  // the items that had been reduced
  ArrivalTime arrived = kJustArrived;
};

/// Executes the call. Nothing is executed unless every chunk is an eligible argument.
Outcome dispatch(Dispatcher& dispatcher, const RdmaCall& call, const ConnectionInfo& info,
                 ReplyPayload& reply);

}  // namespace steertag::peer
