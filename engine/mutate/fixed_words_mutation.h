// Messages with hostile fixed words: versions, procedures, credits and XIDs.
#pragma once

#include "mutate/mutation.h"
#include "mutate/variant.h"

namespace steertag::mutate {

/// Any value of a fixed word: "version.2", "procedure.5", "credit.0", "xid.0". Also:
/// - the procedures of the groups below, and "procedure.msgp-align-4" as in RFC 5666
/// - "xid.differs-from-rpc", "xid.octets-swapped", "xid.plus-1", "xid.bit-16-flipped"
/// - "xids.unknown": header and RPC message have the XID of another call
/// - "cut-at.18": the message ends after 18 octets
MutationTable fixed_word_mutations();

/// rdma_vers other than 1 (RFC 8166 4.2.2, 4.5, 4.5.1): "version.2". Also with a body that is
/// invalid in every version ("version.2-garbage-body"), and too short for an answer
/// ("version.2-short").
std::vector<Variant> versions(const wire::Draft& draft);

/// rdma_proc that is undefined, reserved or out of place (RFC 8166 4.2.4, 4.6): "procedure.5",
/// "procedure.msgp", "procedure.done", "procedure.error-err-chunk", "procedure.nomsg-no-chunk".
std::vector<Variant> procedures(const wire::Draft& draft);

/// Boundary values of credits (RFC 8166 3.3.1, 4.2.3): "credit.0", "credit.0xffffffff".
std::vector<Variant> credits(const wire::Draft& draft);

/// rdma_xid that differs from the XID of the RPC message (RFC 8166 4.2.1, 4.5.2):
/// "xid.differs-from-rpc", "xid.octets-swapped". Nothing without an inline RPC message.
std::vector<Variant> xids(const wire::Draft& draft);

}  // namespace steertag::mutate
