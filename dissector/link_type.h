// Says what the first octet of a frame belongs to, in the terms of the engine's reader.
// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>

#include "capture/packet.h"
#include "dissector/epan.h"

namespace steertag::dissector {

/// Nothing for records that are no packets, and for links over which no RDMA is known to run.
std::optional<capture::LinkType> link_type(const wtap_rec& record);

}  // namespace steertag::dissector
