// Codecs of the values of a CB_NOTIFY_DEVICEID.
#include "nfs/v4/device_notification.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(NotifyDeviceidDelete)
STEERTAG_DEFINE_XDR(NotifyDeviceidChange)

}  // namespace steertag::nfs4
