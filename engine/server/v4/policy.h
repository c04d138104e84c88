// What an NFSv4.1 server may decide about COMPOUND, sessions and callbacks. The defaults conform.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/v4/state/limits.h"

namespace steertag::peer {

/// Where operations may stand in a COMPOUND (RFC 8881 2.10.2, 18).
struct PlacePolicy {
  bool sequence_first = true;            // SEQUENCE only as the first operation
  bool bind_alone = true;                // BIND_CONN_TO_SESSION only as the sole operation
  bool session_operations_alone = true;  // EXCHANGE_ID and others too, outside of a session
};

/// What a slot keeps of a reply, and who may have it (RFC 8881 2.10.6.1).
struct ReplyCachePolicy {
  bool keeps_asked = true;          // replies to requests with sa_cachethis
  bool keeps_errors = true;         // of these, the replies with an error
  bool keeps_lone_sequence = true;  // the reply to a SEQUENCE without other operations
  bool keeps_illegal = true;        // errors of operations that were not executed (2.10.6.1.3)
  bool compares_user = true;        // of a retry with that of the request (2.10.6.1.3.1)
};

struct Nfs4Policy {
  PlacePolicy places{};
  ReplyCachePolicy cache{};
  std::size_t most_sessions = kMostSessionsPerClient;
  bool keeps_opens = true;                    // over DESTROY_SESSION (RFC 8881 18.37.3)
  std::uint32_t first_callback_sequence = 1;  // csa_sequenceid of a slot's first use (2.10.6.1)
};

}  // namespace steertag::peer
