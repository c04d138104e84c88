// Rules on the chunks that a reply returns (RFC 8166 3.4.6, 4.3.2, 4.3.3).
//
// They must be the offered ones, with the lengths that were placed.
#pragma once

#include <array>

#include "conformance/message.h"
#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kWriteListIsReturned{
    "write_list_is_returned", ledger::ref("RFC8166-3.4.6-4"),
    "A reply returns every offered write chunk with its segment count, handles and offsets."};
inline constexpr Rule kEmptyChunkIsReturnedEmpty{
    "empty_chunk_is_returned_empty", ledger::ref("RFC8166-4.3.2.3-3"),
    "A write chunk without segments is returned without segments."};
inline constexpr Rule kReplyChunkIsReturned{
    "reply_chunk_is_returned", ledger::ref("RFC8166-4.3.3-4"),
    "A reply returns the offered reply chunk with its segment count, handles and offsets."};
inline constexpr Rule kNothingElseIsReturned{
    "nothing_else_is_returned", ledger::ref("RFC8166-3.4.3-2"),
    "A reply returns no chunk that the call did not offer."};
inline constexpr Rule kReturnedLengthIsWhatWasPlaced{
    "returned_length_is_what_was_placed", ledger::ref("RFC8166-3.4.6-5"),
    "Each returned length of a write chunk is the number of octets placed in the segment."};
inline constexpr Rule kReplyChunkLengthIsWhatWasPlaced{
    "reply_chunk_length_is_what_was_placed", ledger::ref("RFC8166-4.3.3-5"),
    "Each returned length of the reply chunk is the number of octets placed in the segment."};
inline constexpr Rule kSegmentsAreFilledInOrder{
    "segments_are_filled_in_order", ledger::ref("RFC8166-3.4.6-3"),
    "A segment is used only when the one before it is full, and without gaps."};
inline constexpr Rule kNoRoundupInWriteChunks{
    "no_roundup_in_write_chunks", ledger::ref("RFC8166-3.4.6.2-2"),
    "No roundup octets are placed behind the item in a write chunk."};

inline constexpr std::array kReturnedChunkRules{
    kWriteListIsReturned,      kEmptyChunkIsReturnedEmpty,     kReplyChunkIsReturned,
    kNothingElseIsReturned,    kReturnedLengthIsWhatWasPlaced, kReplyChunkLengthIsWhatWasPlaced,
    kSegmentsAreFilledInOrder, kNoRoundupInWriteChunks,
};

/// Call it for the reply to `call`, which must be clear.
void check_returned_chunks(const Message& message, const Call& call, Connection& connection);

}  // namespace steertag::conformance
