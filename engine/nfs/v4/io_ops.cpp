// Codecs of the operations that move file data.
#include "nfs/v4/io_ops.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(ReadArgs)
STEERTAG_DEFINE_XDR(ReadOk)
STEERTAG_DEFINE_XDR(WriteArgs)
STEERTAG_DEFINE_XDR(WriteOk)
STEERTAG_DEFINE_XDR(CommitArgs)
STEERTAG_DEFINE_XDR(CommitOk)

}  // namespace steertag::nfs4
