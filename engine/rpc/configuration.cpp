// Codecs of the connection configuration protocol.
#include "rpc/configuration.h"

namespace steertag::configuration {

STEERTAG_DEFINE_XDR(Request)
STEERTAG_DEFINE_XDR(Reply)

}  // namespace steertag::configuration
