// Codecs of the port mapper.
#include "rpc/portmap.h"

namespace steertag::portmap {

STEERTAG_DEFINE_XDR(Mapping)
STEERTAG_DEFINE_XDR(Port)
STEERTAG_DEFINE_XDR(MappingList)

}  // namespace steertag::portmap
