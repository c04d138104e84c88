// Codecs of the operations on delegations.
#include "nfs/v4/delegation_ops.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(DelegpurgeArgs)
STEERTAG_DEFINE_XDR(DelegreturnArgs)
STEERTAG_DEFINE_XDR(DelegClaim)
STEERTAG_DEFINE_XDR(WantDelegationArgs)
STEERTAG_DEFINE_XDR(GetDirDelegationArgs)
STEERTAG_DEFINE_XDR(GetDirDelegationGranted)
STEERTAG_DEFINE_XDR(GetDirDelegationOk)

}  // namespace steertag::nfs4
