// The post-dissector: reads every frame once, and draws its notes on every pass.
//
// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace steertag::dissector {

/// Registers the protocol, and hands over to Wireshark when all protocols are registered.
void register_protocol();
void hand_off();

}  // namespace steertag::dissector
