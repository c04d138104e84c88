// Names for fields and statistics, as C strings with static storage.
//
// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "grade/note.h"

namespace steertag::dissector {

const char* word(conformance::Kind kind);
const char* word(grade::ChunkNote::Kind kind);
const char* word(grade::OperationNote::Kind kind);
const char* word(conformance::ReadState state);
const char* word(trace::Role role);
/// RFC 8167: "forward" or "reverse".
const char* direction_word(bool reverse);

}  // namespace steertag::dissector
