// The statistics: `tshark -z steertag,tree`, or Statistics > Steertag.
// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "dissector/tree.h"

namespace steertag::dissector {

/// Makes the tap; to be called when the protocol is registered.
void register_statistics_tap();
/// Makes the table that listens to it; to be called when taps are registered.
void register_statistics_table();
/// Hands on what is shown of a frame, if a table listens.
void tap(const Look& look, packet_info* pinfo);

}  // namespace steertag::dissector
