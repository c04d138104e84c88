// Codecs of the operations on directories.
#include "nfs/v4/directory_ops.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(CreateType)
STEERTAG_DEFINE_XDR(CreateArgs)
STEERTAG_DEFINE_XDR(CreateOk)
STEERTAG_DEFINE_XDR(LinkArgs)
STEERTAG_DEFINE_XDR(LinkOk)
STEERTAG_DEFINE_XDR(RemoveArgs)
STEERTAG_DEFINE_XDR(RemoveOk)
STEERTAG_DEFINE_XDR(RenameArgs)
STEERTAG_DEFINE_XDR(RenameOk)
STEERTAG_DEFINE_XDR(ReaddirArgs)
STEERTAG_DEFINE_XDR(Entry)
STEERTAG_DEFINE_XDR(ReaddirOk)
STEERTAG_DEFINE_XDR(ReadlinkOk)

}  // namespace steertag::nfs4
