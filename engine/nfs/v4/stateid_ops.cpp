// Codecs of the operations on stateids.
#include "nfs/v4/stateid_ops.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(FreeStateidArgs)
STEERTAG_DEFINE_XDR(TestStateidArgs)
STEERTAG_DEFINE_XDR(TestStateidOk)

}  // namespace steertag::nfs4
