// The invariant CRC of a captured RoCEv2 packet.
#pragma once

#include "capture/datagram.h"

namespace steertag::capture::infiniband {

/// Whether a datagram of RoCEv2 has a wrong CRC. False also if the capture lacks a part of what the
/// CRC covers, as after reassembly.
bool has_wrong_crc(const Datagram& datagram);

}  // namespace steertag::capture::infiniband
