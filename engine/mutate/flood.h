// Messages that fill the inline threshold with list entries.
#pragma once

#include "mutate/variant.h"

namespace steertag::mutate {

/// Legal messages with as many entries as one Send of `inline_bytes` octets holds, for each list in
/// turn. Names: "flood.read-segments", "flood.empty-write-chunks", "flood.write-chunks",
/// "flood.write-segments", "flood.reply-segments". Entries repeat the list's first entry, or a
/// segment without memory. Nothing for a draft that is too long itself.
std::vector<Variant> floods(const wire::Draft& draft, std::size_t inline_bytes);

}  // namespace steertag::mutate
