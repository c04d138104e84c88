// Maps a frame's encapsulation to the link type of the engine's reader.
//
// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>

#include "capture/packet.h"
#include "dissector/epan.h"

namespace steertag::dissector {

/// Nothing for records that are no packets, and for links without known RDMA.
std::optional<capture::LinkType> link_type(const wtap_rec& record);

}  // namespace steertag::dissector
