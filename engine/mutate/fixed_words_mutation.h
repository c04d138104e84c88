// Messages whose fixed words are hostile: versions, procedures, credits and XIDs.
#pragma once

#include "mutate/variant.h"

namespace steertag::mutate {

/// rdma_vers other than 1, also with a body that no version could decode, and too short for an
/// answer (RFC 8166 4.2.2, 4.5, 4.5.1): "version.2", "version.2-garbage-body", "version.2-short".
std::vector<Variant> versions(const wire::Draft& draft);

/// rdma_proc without a value, reserved or out of place (RFC 8166 4.2.4, 4.6): "procedure.5",
/// "procedure.msgp", "procedure.done", "procedure.error-err-chunk", "procedure.nomsg-no-chunk".
std::vector<Variant> procedures(const wire::Draft& draft);

/// Credit values at the edges (RFC 8166 3.3.1, 4.2.3): "credit.0", "credit.0xffffffff".
std::vector<Variant> credits(const wire::Draft& draft);

/// rdma_xid that differs from the XID of the RPC message (RFC 8166 4.2.1, 4.5.2):
/// "xid.differs-from-rpc", "xid.octets-swapped". Nothing unless there is an RPC message inline.
std::vector<Variant> xids(const wire::Draft& draft);

}  // namespace steertag::mutate
