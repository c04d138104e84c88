// Which sizes private data can announce (RFC 8797 4.2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/expected.h"

namespace steertag::peer {

/// One sentence about a size, "send" or "receive", that no private data can say.
Expected<void, std::string> check_announced_size(std::string_view what, std::uint32_t bytes);

}  // namespace steertag::peer
