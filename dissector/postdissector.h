// The post-dissector: sees every frame whole, reads it once, and shows what is known each time.
// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace steertag::dissector {

/// What Wireshark asks of a plugin when protocols are registered, and when all of them are.
void register_protocol();
void hand_off();

}  // namespace steertag::dissector
