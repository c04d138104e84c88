// Codecs of the results of the procedures on file systems.
#include "nfs/nfs3_results_filesystem.h"

namespace steertag::nfs3 {

STEERTAG_DEFINE_XDR(FsstatOk)
STEERTAG_DEFINE_XDR(FsinfoOk)
STEERTAG_DEFINE_XDR(PathconfOk)

}  // namespace steertag::nfs3
