// Draws a frame's notes: items under the protocol `steertag`, expert info, the Info column.
//
// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "dissector/epan.h"
#include "dissector/store.h"

namespace steertag::dissector {

/// One pass over one frame.
struct Look {
  const Store* store = nullptr;
  std::uint32_t frame = 0;
  bool late = false;     // Store::any
  bool stopped = false;  // memory ran out at this frame
};
inline constexpr const char* kStopped = "memory ran out";

/// `tree` may be null. Then only expert info and columns are written.
void draw(const Look& look, int protocol, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree);

}  // namespace steertag::dissector
