// Codecs of delegations.
#include "nfs/v4/delegation.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(ModifiedLimit)
STEERTAG_DEFINE_XDR(SpaceLimit)
STEERTAG_DEFINE_XDR(ReadDelegation)
STEERTAG_DEFINE_XDR(WriteDelegation)
STEERTAG_DEFINE_XDR(NoneDelegation)
STEERTAG_DEFINE_XDR(Delegation)

}  // namespace steertag::nfs4
