// An InfiniBand packet that came without IP: native, or RoCE version 1.
#pragma once

#include <cstddef>

#include "capture/packet.h"

namespace steertag::capture {

struct InfinibandFrame {
  Place place;
  /// From the local route header on, or from the global route header on if there is none. Up to the
  /// invariant CRC if the length says so; valid during the call that hands it over.
  View octets;
  std::size_t length = 0;  // on the wire: more than `octets` if it was cut
  bool has_lrh = false;    // false: RoCE version 1
};

}  // namespace steertag::capture
