// Messages whose chunk lists are malformed: presence words, counts, missing bodies and order.
#pragma once

#include "mutate/variant.h"

namespace steertag::mutate {

/// Presence words that are neither 0 nor 1 (RFC 4506 4.19): "read-list.presence-2" on the first
/// entry, "read-list.end-presence-2" on the word that ends the list; the same for write list and
/// reply chunk.
std::vector<Variant> presence_words(const wire::Draft& draft);

/// Segment counts that the message cannot hold, or that are off by one:
/// "write-chunk.count-0x10000000" (times 16 this wraps to 0 in 32 bits),
/// "write-chunk-2.count-plus-1", "reply-chunk.count-0".
std::vector<Variant> counts(const wire::Draft& draft);

/// A presence word of 1 with no entry behind it: "read-list.missing-body",
/// "reply-chunk.missing-body".
std::vector<Variant> missing_bodies(const wire::Draft& draft);

/// Entries in another order or twice: "read-list.reversed", "read-list.interleaved",
/// "read-list.doubled", "write-list.doubled". Only for lists that the draft has.
std::vector<Variant> orders(const wire::Draft& draft);

}  // namespace steertag::mutate
