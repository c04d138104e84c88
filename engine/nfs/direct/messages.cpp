// Codecs of direct access.
#include "nfs/direct/messages.h"

namespace steertag::direct {

STEERTAG_DEFINE_XDR(Reference)
STEERTAG_DEFINE_XDR(HelloArgs)
STEERTAG_DEFINE_XDR(HelloOk)
STEERTAG_DEFINE_XDR(RefsArgs)
STEERTAG_DEFINE_XDR(RefsOk)
STEERTAG_DEFINE_XDR(ReadArgs)
STEERTAG_DEFINE_XDR(ReadOk)
STEERTAG_DEFINE_XDR(BatchArgs)
STEERTAG_DEFINE_XDR(BatchResult)
STEERTAG_DEFINE_XDR(ReturnArgs)
STEERTAG_DEFINE_XDR(Counters)

}  // namespace steertag::direct
