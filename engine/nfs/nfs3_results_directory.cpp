// Codecs of the results of the procedures on directories.
#include "nfs/nfs3_results_directory.h"

namespace steertag::nfs3 {

STEERTAG_DEFINE_XDR(CreateOk)
STEERTAG_DEFINE_XDR(DirWcc)
STEERTAG_DEFINE_XDR(RenameOk)
STEERTAG_DEFINE_XDR(LinkOk)
STEERTAG_DEFINE_XDR(Entry)
STEERTAG_DEFINE_XDR(ReaddirOk)
STEERTAG_DEFINE_XDR(DirFail)
STEERTAG_DEFINE_XDR(EntryPlus)
STEERTAG_DEFINE_XDR(ReaddirplusOk)

}  // namespace steertag::nfs3
