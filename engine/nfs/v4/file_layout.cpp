// Codecs of the file layout type.
#include "nfs/v4/file_layout.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(FileLayout)
STEERTAG_DEFINE_XDR(MultipathList)
STEERTAG_DEFINE_XDR(FileLayoutDevice)
STEERTAG_DEFINE_XDR(FileLayoutHint)

}  // namespace steertag::nfs4
