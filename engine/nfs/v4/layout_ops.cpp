// Codecs of the operations of parallel NFS.
#include "nfs/v4/layout_ops.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(LayoutContent)
STEERTAG_DEFINE_XDR(Layout)
STEERTAG_DEFINE_XDR(DeviceAddr)
STEERTAG_DEFINE_XDR(LayoutUpdate)
STEERTAG_DEFINE_XDR(GetdeviceinfoArgs)
STEERTAG_DEFINE_XDR(GetdeviceinfoOk)
STEERTAG_DEFINE_XDR(GetdeviceinfoResult)
STEERTAG_DEFINE_XDR(GetdevicelistArgs)
STEERTAG_DEFINE_XDR(GetdevicelistOk)
STEERTAG_DEFINE_XDR(NewTime)
STEERTAG_DEFINE_XDR(NewOffset)
STEERTAG_DEFINE_XDR(NewSize)
STEERTAG_DEFINE_XDR(LayoutcommitArgs)
STEERTAG_DEFINE_XDR(LayoutcommitOk)
STEERTAG_DEFINE_XDR(LayoutgetArgs)
STEERTAG_DEFINE_XDR(LayoutgetOk)
STEERTAG_DEFINE_XDR(LayoutgetResult)
STEERTAG_DEFINE_XDR(LayoutreturnFile)
STEERTAG_DEFINE_XDR(Layoutreturn)
STEERTAG_DEFINE_XDR(LayoutreturnArgs)
STEERTAG_DEFINE_XDR(LayoutreturnStateid)

}  // namespace steertag::nfs4
