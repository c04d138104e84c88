// Codecs of the types of attributes.
#include "nfs/v4/attribute_types.h"

namespace steertag::nfs4 {

STEERTAG_DEFINE_XDR(ModeMasked)
STEERTAG_DEFINE_XDR(ChangePolicy)
STEERTAG_DEFINE_XDR(ServerName)
STEERTAG_DEFINE_XDR(FsLocation)
STEERTAG_DEFINE_XDR(FsLocations)
STEERTAG_DEFINE_XDR(FsLocationsServer)
STEERTAG_DEFINE_XDR(FsLocationsItem)
STEERTAG_DEFINE_XDR(FsLocationsInfo)
STEERTAG_DEFINE_XDR(FsStatus)
STEERTAG_DEFINE_XDR(LayoutHint)
STEERTAG_DEFINE_XDR(ThresholdItem)
STEERTAG_DEFINE_XDR(MdsThreshold)
STEERTAG_DEFINE_XDR(RetentionGet)
STEERTAG_DEFINE_XDR(RetentionSet)

}  // namespace steertag::nfs4
