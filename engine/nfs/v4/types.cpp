// Codecs of the shared types of NFS version 4.
#include "nfs/v4/types.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(Time)
STEERTAG_DEFINE_XDR(SetTime)
STEERTAG_DEFINE_XDR(Fsid)
STEERTAG_DEFINE_XDR(SpecData)
STEERTAG_DEFINE_XDR(StateId)
STEERTAG_DEFINE_XDR(ChangeInfo)
STEERTAG_DEFINE_XDR(StateOwner)
STEERTAG_DEFINE_XDR(NetAddr)
STEERTAG_DEFINE_XDR(Ace)
STEERTAG_DEFINE_XDR(Acl)
STEERTAG_DEFINE_XDR(Component)
STEERTAG_DEFINE_XDR(ImplId)
STEERTAG_DEFINE_XDR(Fattr)

}  // namespace steertag::nfs4
