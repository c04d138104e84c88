// Reply size estimation for COMPOUND (RFC 8267 6.2): the largest reply that a call can get.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "nfs/v4/bitmap.h"
#include "support/bytes.h"
#include "wire/fault.h"

namespace steertag::nfs4 {

/// Upper bounds in octets.
struct CompoundReplySize {
  /// The whole reply as one unreduced payload stream, RPC header included.
  std::size_t payload = 0;
  /// Of these, each DDP-eligible item without roundup, in the order of the operations: the sizes
  /// that write chunks need.
  std::vector<std::size_t> eligible;
  /// False when an operation requests something that the protocol does not bound (RFC 8267 6.2).
  /// These are an ACL, locations and layouts. The bound is then that of our own limits. In minor
  /// version 1 the session's ca_maxresponsesize is the better one (RFC 8267 6.2.2). In minor
  /// version 0 a client retries with a larger reply chunk.
  bool bounded = true;

  /// The payload stream when write chunks take all eligible items (their count words stay).
  std::size_t reduced() const;
};

/// Octets of the largest fattr4 with these attributes, and whether the protocol bounds them all.
/// Numbers that the table of attributes does not have are not bounded and count nothing.
struct FattrSize {
  std::size_t octets = 0;
  bool bounded = true;
};
FattrSize largest_fattr(const Bitmap& request);

/// The largest reply to an encoded COMPOUND call. `verifier_octets` is as in nfs::largest_reply.
/// nullopt: another program or procedure, or the arguments do not decode to their end (sets `fault`
/// when given). An eligible argument must not have been reduced.
std::optional<CompoundReplySize> largest_reply(View rpc_call, std::size_t verifier_octets = 0,
                                               wire::Fault* fault = nullptr);

}  // namespace steertag::nfs4
