// Mutations of RDMA_ERROR messages.
#pragma once

#include "mutate/mutation.h"

namespace steertag::mutate {

/// - "error.code-3": another rdma_err
/// - "error.versions-2-2", "error.versions-2-3", "error.versions-1-0": another range in ERR_VERS
/// - "error.procedure-5": another rdma_proc; the octets behind it stay
/// They apply to an RDMA_ERROR only.
MutationTable error_mutations();

}  // namespace steertag::mutate
