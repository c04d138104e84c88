// Detects from one Send whether a connection speaks RPC-over-RDMA, and who is the client.
#pragma once

#include <cstdint>

#include "support/bytes.h"

namespace steertag::capture {

enum class ProtocolEvidence : std::uint8_t {
  other,        // not RPC-over-RDMA
  unclear,      // possibly RPC-over-RDMA
  rpcrdma,      // RPC-over-RDMA, from either end
  reply,        // from the server, unless it answers a callback
  from_client,  // a call that only a client sends
  from_server,  // a callback, or a reply to a call that only a client sends
};

/// Examines the transport header and the RPC header. A message that breaks rules may be `unclear`
/// or `other`. This function does not judge.
ProtocolEvidence protocol_evidence(View send);

}  // namespace steertag::capture
