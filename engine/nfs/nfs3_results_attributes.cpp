// Codecs of the results of the procedures on one object's attributes.
#include "nfs/nfs3_results_attributes.h"

namespace steertag::nfs3 {

STEERTAG_DEFINE_XDR(ObjectFail)
STEERTAG_DEFINE_XDR(GetattrOk)
STEERTAG_DEFINE_XDR(SetattrOk)
STEERTAG_DEFINE_XDR(LookupOk)
STEERTAG_DEFINE_XDR(LookupFail)
STEERTAG_DEFINE_XDR(AccessOk)

}  // namespace steertag::nfs3
