// Messages whose segments decode but point nowhere good: positions, lengths, offsets and handles.
#pragma once

#include "mutate/variant.h"

namespace steertag::mutate {

/// Positions of the first read segment (RFC 8166 3.4.5): unaligned ("read-list.position-plus-1" to
/// "-3"), inside the RPC header ("-4"), and far behind the payload stream ("-0xfffffffc"); and the
/// segments of one chunk given advancing positions ("read-list.positions-advance").
std::vector<Variant> positions(const wire::Draft& draft);

/// The first segment of each list with hostile coordinates: "read-list.length-0xffffffff",
/// "write-chunk.length-0", "reply-chunk.offset-wraps", "read-list.handle-0xffffffff"; and a chunk
/// whose lengths add up past 2^32 ("read-list.lengths-past-32-bits").
std::vector<Variant> segments(const wire::Draft& draft);

}  // namespace steertag::mutate
