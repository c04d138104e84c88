// What a server may decide about its transports. The defaults conform.
#pragma once

namespace steertag::peer {

/// Record marking over plain TCP (RFC 5531 11).
struct RecordPolicy {
  bool takes_fragments = true;  // false: a record of several fragments ends the connection
  bool takes_pipelined = true;  // false: octets that arrive together with a whole record are lost
};

}  // namespace steertag::peer
