// Mutations of the payload stream, of the RPC message in it, and of the octets around it.
#pragma once

#include "mutate/mutation.h"

namespace steertag::mutate {

/// - "payload.octets-8": the payload stream ends after 8 octets
/// - "payload.record-mark": a TCP record mark stands before it (RFC 5531 11)
/// - "trailing.octets-8": 8 zero octets follow the message
/// - "without.transport-header": the message is its payload stream
/// - "rpc-xid.differs", "rpc-xid.inverted": another XID than that of the header (RFC 8166 4.2.1)
/// - "rpc-type.2", "rpc-version.3", "rpc-credential.length-0xffffffff": words of an RPC header
/// - "rpc-reply.denied": the reply denies the call with AUTH_FAILED (RFC 5531 9)
MutationTable payload_mutations();

/// The draft with zero octets at its end, so that the whole message has `octets`.
wire::Draft padded(const wire::Draft& draft, std::size_t octets);

}  // namespace steertag::mutate
