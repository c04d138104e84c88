// Outcomes of the storage as statuses of NFS version 4.
#include "server/v4/status_map.h"

namespace steertag::peer {

nfs4::Status to_nfs4(Status status) {
  if (status == Status::not_sync) return nfs4::Status::NFS4ERR_SERVERFAULT;
  return static_cast<nfs4::Status>(status);
}

}  // namespace steertag::peer
