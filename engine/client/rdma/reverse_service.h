// Answers the calls of a server in the reverse direction of its client's connection (RFC 8167).
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/bytes.h"

namespace steertag::peer {

/// Calls of the server that may be in flight, and receives for them (RFC 8167 4.3.1). This is
/// enough for a probe beside a call in each slot of a backchannel.
inline constexpr std::uint32_t kReverseGrant = 8;

/// Messages other than calls, mostly replies, that may wait to be sent. A server that keeps to
/// kReverseGrant never has so many. A server that calls on without reading gets no replies beyond
/// these. RFC 8166 3.3.1: a requester keeps to its grant. RFC 8167 4.1: in reverse too.
inline constexpr std::size_t kMostUnsentAnswers = 64;

/// The largest call and reply of the reverse direction, in octets of the RPC message. Without
/// chunks they are at most as long as the inline thresholds allow (RFC 8167 4.2, 5.3).
struct ReverseLimits {
  std::size_t call_bytes = 0;
  std::size_t reply_bytes = 0;
};

class ReverseService {
 public:
  virtual ~ReverseService() = default;
  /// The RPC reply to an RPC call, both from the XID on; empty if the octets are no call that can
  /// be answered. Comes from inside the transport's `step`; calls may be submitted.
  virtual Bytes answer(View call) = 0;
};

}  // namespace steertag::peer
