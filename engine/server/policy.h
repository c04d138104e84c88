// What a server may decide about its transports and its calls. The defaults conform.
#pragma once

namespace steertag::peer {

/// Record marking over plain TCP (RFC 5531 11).
struct RecordPolicy {
  bool takes_fragments = true;  // false: a record of several fragments ends the connection
  bool takes_pipelined = true;  // false: octets that arrive together with a whole record are lost
};

/// A call that repeats one which must not be executed twice (RFC 1813 4.5).
struct RetryPolicy {
  bool keeps_replies = true;    // false: every call is executed
  bool takes_any_port = true;   // false: a retry arrives from the port of the first call
  bool compares_calls = true;   // false: the XID alone tells a retry
  bool executes_once = true;    // false: a retry is executed, and gets the kept reply all the same
  bool gives_own_reply = true;  // false: a retry gets the reply that was kept last
  bool keeps_large = true;      // false: a call above kSmallCall octets is executed again
};

}  // namespace steertag::peer
