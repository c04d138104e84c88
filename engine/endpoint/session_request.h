// Where a request stands in its session (RFC 8881 18.46.1), read from its octets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "support/bytes.h"

namespace steertag::peer {

struct SessionRequest {
  std::string session;          // sa_sessionid, octets
  std::string slot_key;         // sa_sessionid, sa_sequenceid and sa_slotid: the same in a retry
  std::uint32_t sequence = 0;   // sa_sequenceid
  std::size_t sequence_at = 0;  // where in the call that word stands, in octets
  bool cachethis = false;
};

/// Nothing if the call is not a COMPOUND of minor version 1 or above that begins with SEQUENCE.
std::optional<SessionRequest> session_request(View call);

/// Where csa_sequence stands in a call that begins with CREATE_SESSION, in octets; nothing of any
/// other call.
std::optional<std::size_t> create_sequence_at(View call);

}  // namespace steertag::peer
