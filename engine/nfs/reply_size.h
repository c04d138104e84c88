// Reply size estimation (RFC 8267 3 and 4.1, RFC 8166 4.3.3): the largest reply of a call.
// From this a requester chooses between inline, write chunk and reply chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "nfs/mount3_procedures.h"
#include "nfs/nfs3_procedures.h"
#include "support/bytes.h"
#include "wire/fault.h"
#include "wire/xdr.h"

namespace steertag::nfs {

/// Upper bounds in octets.
struct ReplySize {
  /// The whole reply as one unreduced payload stream, RPC header included.
  std::size_t payload = 0;
  /// Of these, the DDP-eligible item without roundup: the size that a write chunk needs. 0: there
  /// is none.
  std::size_t eligible = 0;

  /// The payload stream when a write chunk takes the eligible item (its count word stays).
  std::size_t reduced() const { return payload - wire::roundup4(eligible); }
};

/// The largest reply to an encoded call of NFS version 3 or MOUNT version 3, unreduced or reduced.
/// `verifier_octets` is the largest verifier body that the server's flavour gives. It is 0 for
/// AUTH_NONE, which AUTH_SYS replies carry too. Returns nullopt for another program, and where the
/// protocol bounds nothing (DUMP, EXPORT). Also where the header or the arguments do not decode,
/// which sets `fault` when given.
std::optional<ReplySize> largest_reply(View rpc_call, std::size_t verifier_octets = 0,
                                       wire::Fault* fault = nullptr);

/// The same without RPC headers, for encoded arguments of a procedure of NFS version 3; nullopt
/// when they do not decode.
std::optional<ReplySize> largest_result(nfs3::Procedure procedure, View arguments);

}  // namespace steertag::nfs
