// Codecs of the operations on attributes.
#include "nfs/v4/attribute_ops.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(AccessArgs)
STEERTAG_DEFINE_XDR(AccessOk)
STEERTAG_DEFINE_XDR(GetattrArgs)
STEERTAG_DEFINE_XDR(GetattrOk)
STEERTAG_DEFINE_XDR(SetattrArgs)
STEERTAG_DEFINE_XDR(SetattrResult)
STEERTAG_DEFINE_XDR(VerifyArgs)
STEERTAG_DEFINE_XDR(OpenattrArgs)

}  // namespace steertag::nfs4
