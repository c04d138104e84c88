// What one Send says about the connection that it came on: whether RPC-over-RDMA is spoken, and who
// is the client.
#pragma once

#include <cstdint>

#include "support/bytes.h"

namespace steertag::capture {

enum class Speech : std::uint8_t {
  other,        // not RPC-over-RDMA
  unclear,      // it may be
  spoken,       // RPC-over-RDMA, by either end
  reply,        // the server's, unless it answers a callback
  from_client,  // a call that only a client sends
  from_server,  // a callback, or a reply to a call that only a client sends
};

/// Looks at the transport header and the RPC header behind it. A message that breaks rules may be
/// `unclear` or `other`; nothing is judged here.
Speech speech_of(View send);

}  // namespace steertag::capture
