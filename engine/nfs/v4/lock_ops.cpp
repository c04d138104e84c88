// Codecs of the operations on byte-range locks.
#include "nfs/v4/lock_ops.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(OpenToLockOwner)
STEERTAG_DEFINE_XDR(ExistLockOwner)
STEERTAG_DEFINE_XDR(Locker)
STEERTAG_DEFINE_XDR(LockArgs)
STEERTAG_DEFINE_XDR(LockDenied)
STEERTAG_DEFINE_XDR(LockOk)
STEERTAG_DEFINE_XDR(LockResult)
STEERTAG_DEFINE_XDR(LocktArgs)
STEERTAG_DEFINE_XDR(LocktResult)
STEERTAG_DEFINE_XDR(LockuArgs)
STEERTAG_DEFINE_XDR(ReleaseLockownerArgs)

}  // namespace steertag::nfs4
