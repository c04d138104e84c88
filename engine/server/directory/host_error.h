// What errors of the host mean for NFS.
#pragma once

#include "server/storage/backend.h"

namespace steertag::peer {

/// The one table from errno to nfsstat3. Status::io for what is not in it.
Status from_errno(int error);

}  // namespace steertag::peer
