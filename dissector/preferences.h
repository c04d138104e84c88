// What the user can set: Edit > Preferences > Protocols > Steertag, or `-o steertag.NAME:VALUE`.
// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "grade/profile.h"
#include "ledger/ledger.h"

namespace steertag::dissector {

/// The weight of a broken requirement, by its RFC 2119 word.
enum class Weight : std::uint8_t { must, should, may };
/// DEF, normative text without a key word, weighs as much as MUST.
Weight weight(ledger::Level level);

void register_preferences(int protocol);

/// Whether frames are read at all.
bool reading_wanted();
/// The protocol version to judge by.
grade::Profile profile();
/// Whether findings of this weight are shown.
bool shown(Weight weight);
/// Whether RDMA operations are shown in addition to messages and findings.
bool operations_shown();
/// Ports besides 20049.
std::vector<std::uint16_t> further_ports();

}  // namespace steertag::dissector
