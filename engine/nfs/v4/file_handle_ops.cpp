// Codecs of the operations on the current filehandle.
#include "nfs/v4/file_handle_ops.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(PutfhArgs)
STEERTAG_DEFINE_XDR(GetfhOk)
STEERTAG_DEFINE_XDR(LookupArgs)
STEERTAG_DEFINE_XDR(SecinfoArgs)
STEERTAG_DEFINE_XDR(SecinfoNoNameArgs)
STEERTAG_DEFINE_XDR(GssInfo)
STEERTAG_DEFINE_XDR(Secinfo)
STEERTAG_DEFINE_XDR(SecinfoOk)

}  // namespace steertag::nfs4
