// Outcomes of the storage as statuses of NFS version 4.
#pragma once

#include "nfs/v4/status.h"
#include "server/storage/backend.h"

namespace steertag::peer {

/// The nfsstat4 of a storage's outcome. The numbers agree, but for those that version 4 does not
/// have: not_sync, which guards nothing here, becomes NFS4ERR_SERVERFAULT.
nfs4::Status to_nfs4(Status status);

}  // namespace steertag::peer
