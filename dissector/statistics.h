// The statistics: `tshark -z steertag,tree`, or Statistics > Steertag.
// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "dissector/tree.h"

namespace steertag::dissector {

/// Registers the tap. Call it when the protocol is registered.
void register_statistics_tap();
/// Registers the table that listens to the tap. Call it when taps are registered.
void register_statistics_table();
/// Sends what a frame shows to the table, if one listens.
void tap(const Look& look, packet_info* pinfo);

}  // namespace steertag::dissector
