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

/// Opens, locks and stateids of NFS version 4 (RFC 7530 9, RFC 8881 8 and 9).
struct StatePolicy {
  bool failures_use_seqids = true;  // false: in minor version 0 a request that fails leaves a seqid
  bool restores_stateid = true;     // false: RESTOREFH restores the filehandle alone
  bool secinfo_consumes = true;     // false: the current filehandle stays behind SECINFO
  bool gives_denial_back = true;    // false: what an open denies outlives OPEN_DOWNGRADE
};

}  // namespace steertag::peer
