// Codecs of the operations of CB_COMPOUND.
#include "nfs/v4/callback_ops.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(CbGetattrArgs)
STEERTAG_DEFINE_XDR(CbRecallArgs)
STEERTAG_DEFINE_XDR(LayoutrecallFile)
STEERTAG_DEFINE_XDR(Layoutrecall)
STEERTAG_DEFINE_XDR(CbLayoutrecallArgs)
STEERTAG_DEFINE_XDR(Notify)
STEERTAG_DEFINE_XDR(CbNotifyArgs)
STEERTAG_DEFINE_XDR(CbPushDelegArgs)
STEERTAG_DEFINE_XDR(CbRecallAnyArgs)
STEERTAG_DEFINE_XDR(CbRecallSlotArgs)
STEERTAG_DEFINE_XDR(ReferringCall)
STEERTAG_DEFINE_XDR(ReferringCallList)
STEERTAG_DEFINE_XDR(CbSequenceArgs)
STEERTAG_DEFINE_XDR(CbSequenceOk)
STEERTAG_DEFINE_XDR(CbWantsCancelledArgs)
STEERTAG_DEFINE_XDR(CbNotifyLockArgs)
STEERTAG_DEFINE_XDR(CbNotifyDeviceidArgs)

}  // namespace steertag::nfs4
