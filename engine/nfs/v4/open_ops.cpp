// Codecs of the operations on opens.
#include "nfs/v4/open_ops.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(CreateVerfAttr)
STEERTAG_DEFINE_XDR(CreateHow)
STEERTAG_DEFINE_XDR(OpenFlag)
STEERTAG_DEFINE_XDR(ClaimDelegateCur)
STEERTAG_DEFINE_XDR(OpenClaim)
STEERTAG_DEFINE_XDR(OpenArgs)
STEERTAG_DEFINE_XDR(OpenOk)
STEERTAG_DEFINE_XDR(OpenConfirmArgs)
STEERTAG_DEFINE_XDR(OpenDowngradeArgs)
STEERTAG_DEFINE_XDR(OpenStateOk)
STEERTAG_DEFINE_XDR(CloseArgs)

}  // namespace steertag::nfs4
