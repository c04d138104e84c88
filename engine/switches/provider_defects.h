// The deviations that are not the server's own but its provider's: below messages.
#pragma once

#include "fabric/defect.h"
#include "switches/switch.h"

namespace steertag::peer {

fabric::Defects provider_defects(const Deviations& deviations);

}  // namespace steertag::peer
