// Decodable messages with bad segments: positions, lengths, offsets and handles.
#pragma once

#include "mutate/variant.h"

namespace steertag::mutate {

/// Positions of the first read segment (RFC 8166 3.4.5). Unaligned: "read-list.position-plus-1" to
/// "-3". Inside the RPC header: "-4". Far beyond the payload stream: "-0xfffffffc". In
/// "read-list.positions-advance" the segments of one chunk have ascending positions.
std::vector<Variant> positions(const wire::Draft& draft);

/// The first segment of each list with hostile coordinates: "read-list.length-0xffffffff",
/// "write-chunk.length-0", "reply-chunk.offset-wraps", "read-list.handle-0xffffffff". In
/// "read-list.lengths-past-32-bits" the lengths of a chunk add up to more than 2^32.
std::vector<Variant> segments(const wire::Draft& draft);

}  // namespace steertag::mutate
