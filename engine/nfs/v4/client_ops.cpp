// Codecs of the operations on client identities.
#include "nfs/v4/client_ops.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(NfsClientId)
STEERTAG_DEFINE_XDR(CbClient)
STEERTAG_DEFINE_XDR(SetclientidArgs)
STEERTAG_DEFINE_XDR(SetclientidOk)
STEERTAG_DEFINE_XDR(SetclientidResult)
STEERTAG_DEFINE_XDR(SetclientidConfirmArgs)
STEERTAG_DEFINE_XDR(RenewArgs)
STEERTAG_DEFINE_XDR(ClientOwner)
STEERTAG_DEFINE_XDR(ServerOwner)
STEERTAG_DEFINE_XDR(StateProtectOps)
STEERTAG_DEFINE_XDR(Algorithm)
STEERTAG_DEFINE_XDR(SsvParms)
STEERTAG_DEFINE_XDR(StateProtectArgs)
STEERTAG_DEFINE_XDR(ExchangeIdArgs)
STEERTAG_DEFINE_XDR(GssHandle)
STEERTAG_DEFINE_XDR(SsvInfo)
STEERTAG_DEFINE_XDR(StateProtectResult)
STEERTAG_DEFINE_XDR(ExchangeIdOk)
STEERTAG_DEFINE_XDR(DestroyClientidArgs)
STEERTAG_DEFINE_XDR(ReclaimCompleteArgs)

}  // namespace steertag::nfs4
