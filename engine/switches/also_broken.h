// Requirements that a deviation breaks besides its own.
// A defect often breaks a clause and the one that restates it for a case. Each is listed, and
// caught, under its own id.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "switches/switch.h"

namespace steertag::peer {

struct AlsoBroken {
  Deviation deviation;
  std::string_view requirement;
};

/// All of both sides.
std::span<const AlsoBroken> also_broken();
/// The ids of what this one breaks besides its own.
std::vector<std::string_view> also_broken(Deviation deviation);

}  // namespace steertag::peer
