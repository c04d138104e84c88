// Messages with malformed chunk lists: presence words, counts, missing bodies and order.
#pragma once

#include "mutate/variant.h"

namespace steertag::mutate {

/// Presence words other than 0 and 1 (RFC 4506 4.19). "read-list.presence-2" is on the first entry,
/// "read-list.end-presence-2" on the word that ends the list. The same for write list and reply
/// chunk.
std::vector<Variant> presence_words(const wire::Draft& draft);

/// Segment counts that the message cannot hold, or that are off by one. In
/// "write-chunk.count-0x10000000" the octets wrap to 0 in 32 bits. Also
/// "write-chunk-2.count-plus-1" and "reply-chunk.count-0".
std::vector<Variant> counts(const wire::Draft& draft);

/// A presence word of 1 without an entry: "read-list.missing-body", "reply-chunk.missing-body".
std::vector<Variant> missing_bodies(const wire::Draft& draft);

/// Reordered or duplicated entries: "read-list.reversed", "read-list.interleaved",
/// "read-list.doubled", "write-list.doubled". Only for lists that the draft has.
std::vector<Variant> orders(const wire::Draft& draft);

}  // namespace steertag::mutate
