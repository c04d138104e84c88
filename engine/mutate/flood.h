// Messages that fill the inline threshold with list entries.
#pragma once

#include "mutate/variant.h"

namespace steertag::mutate {

/// Legal encodings with as many entries as one Send of `inline_bytes` octets holds, each list in
/// turn: "flood.read-segments", "flood.empty-write-chunks", "flood.write-chunks",
/// "flood.write-segments", "flood.reply-segments". Entries repeat the draft's first entry of the
/// list, or a segment of no memory. Nothing for a draft that does not fit by itself.
std::vector<Variant> floods(const wire::Draft& draft, std::size_t inline_bytes);

}  // namespace steertag::mutate
