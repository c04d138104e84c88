// An InfiniBand packet without IP: native, or RoCE version 1.
#pragma once

#include <cstddef>

#include "capture/packet.h"

namespace steertag::capture {

struct InfinibandFrame {
  FrameStamp stamp;
  /// From the local route header, or the global route header without one, up to the invariant CRC
  /// if the length includes it. Valid during the call that passes it.
  View octets;
  std::size_t length = 0;  // on the wire: more than `octets` if truncated
  bool has_lrh = false;    // false: RoCE version 1
};

}  // namespace steertag::capture
