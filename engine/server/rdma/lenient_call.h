// A call made acceptable by deviations that overlook what a responder has to refuse.
#pragma once

#include "support/bytes.h"
#include "switches/switch.h"

namespace steertag::peer {

/// Whether any deviation overlooks faults of transport headers.
bool overlooks_faults(const Deviations& deviations);

/// A copy of `message`, of the same length, without the faults that `deviations` overlook.
Bytes overlook_faults(View message, const Deviations& deviations);

}  // namespace steertag::peer
