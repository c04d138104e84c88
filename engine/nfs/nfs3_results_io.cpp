// Codecs of the results of the procedures that move file data.
#include "nfs/nfs3_results_io.h"

namespace steertag::nfs3 {

STEERTAG_DEFINE_XDR(ReadlinkOk)
STEERTAG_DEFINE_XDR(ReadlinkFail)
STEERTAG_DEFINE_XDR(ReadOk)
STEERTAG_DEFINE_XDR(ReadFail)
STEERTAG_DEFINE_XDR(WriteOk)
STEERTAG_DEFINE_XDR(FileWccFail)
STEERTAG_DEFINE_XDR(CommitOk)

}  // namespace steertag::nfs3
