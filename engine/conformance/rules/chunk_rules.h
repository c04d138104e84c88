// Rules on a call's chunks, which a reply must not have: segments and positions (RFC 8166 3.4).
#pragma once

#include <array>

#include "conformance/message.h"
#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kSegmentEndsInside64Bits{
    "segment_ends_inside_64_bits", ledger::ref("RFC8166-2.3.2-1"),
    "Offset and length of a segment name octets of a 64-bit address space."};
inline constexpr Rule kPositionIsInsideThePayloadStream{
    "position_is_inside_the_payload_stream", ledger::ref("RFC8166-3.4.5-2"),
    "A read chunk's position is where the unreduced payload stream lacks its item."};
inline constexpr Rule kReplyHasNoReadList{"reply_has_no_read_list", ledger::ref("RFC8166-4.3.1-3"),
                                          "The read list of a reply is empty."};

inline constexpr std::array kChunkRules{
    kSegmentEndsInside64Bits,
    kPositionIsInsideThePayloadStream,
    kReplyHasNoReadList,
};

void check_call_chunks(const Message& message, Connection& connection);

void check_reply_read_list(const Message& message, Connection& connection);

}  // namespace steertag::conformance
