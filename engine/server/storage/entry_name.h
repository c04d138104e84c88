// What a storage accepts as the name of a directory entry.
#pragma once

#include <string_view>

#include "server/storage/backend.h"

namespace steertag::peer {

inline constexpr std::size_t kLongestName = 255;  // octets of one path component

/// "." or "..", which every directory has.
bool is_dots(std::string_view name);
/// Status::invalid for an empty name or one with a slash or NUL, Status::name_too_long.
Status check_name(std::string_view name);

}  // namespace steertag::peer
