// Mutations of chunk lists as a reply returns them.
// None of these lists is malformed: they differ from the call's, or from what was placed.
#pragma once

#include "mutate/mutation.h"

namespace steertag::mutate {

/// Whole lists:
/// - "write-list.absent", "reply-chunk.absent"
/// - "write-list.invented", "reply-chunk.invented", "read-list.invented": one segment of memory
///   that no side has registered; the read segment's position is the end of the payload stream
///
/// All segments of the write list:
/// - "write-list.unused": lengths of zero (RFC 8166 4.3.2.2)
/// - "write-list.handles-differ", "write-list.offsets-0", "write-list.lengths-rounded-up"
/// - "write-list.without-unused-chunks", "write-list.without-empty-chunks"
/// - "write-list.first-segments-only"
///
/// The first write chunk, and the first segment of a chunk:
/// - "write-chunk.last-segment-dropped", "write-chunk.last-segment-doubled",
///   "write-chunk.last-segment-split"
/// - "write-chunk.length-minus-1", "write-chunk.length-halved", "write-chunk.length-doubled"
/// - "reply-chunk.length-minus-1", "reply-chunk.length-halved", "reply-chunk.length-doubled"
/// - "write-chunk.lengths-wrap", "reply-chunk.lengths-wrap": each above 2^31, the sum right in 32
///   bits; a chunk of one segment comes back as two
/// - "write-chunk.offset-plus-1", "write-chunk.offset-all-ones", "reply-chunk.offset-plus-4"
/// The group "segment" has further mutations of the first segment.
MutationTable returned_list_mutations();

}  // namespace steertag::mutate
