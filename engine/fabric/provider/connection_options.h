// The owner's options for a connection whose startup is not MPA.
#pragma once

#include <string_view>

#include "fabric/fabric.h"

namespace steertag::fabric {

/// Errc::unsupported with `why` for an option of MPA, and Errc::too_large for more private
/// data than `most` octets.
Expected<void, Error> check_options(const ConnectionOptions& options, std::size_t most,
                                    std::string_view why);

}  // namespace steertag::fabric
