// Codecs of the operations on sessions.
#include "nfs/v4/session_ops.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(GssCbHandles)
STEERTAG_DEFINE_XDR(CallbackSecParms)
STEERTAG_DEFINE_XDR(BackchannelCtlArgs)
STEERTAG_DEFINE_XDR(BindConnToSessionArgs)
STEERTAG_DEFINE_XDR(BindConnToSessionOk)
STEERTAG_DEFINE_XDR(ChannelAttrs)
STEERTAG_DEFINE_XDR(CreateSessionArgs)
STEERTAG_DEFINE_XDR(CreateSessionOk)
STEERTAG_DEFINE_XDR(DestroySessionArgs)
STEERTAG_DEFINE_XDR(SequenceArgs)
STEERTAG_DEFINE_XDR(SequenceOk)
STEERTAG_DEFINE_XDR(SetSsvArgs)
STEERTAG_DEFINE_XDR(SetSsvOk)

}  // namespace steertag::nfs4
