// What UTF-8 is.
#pragma once

#include <string_view>

namespace steertag::peer {

/// Well-formed UTF-8: no overlong form, no surrogate, nothing above U+10FFFF (RFC 3629).
bool is_utf8(std::string_view text);

}  // namespace steertag::peer
