// Rules on RDMA_MSG, RDMA_NOMSG and the payload stream's place (RFC 8166 3.5, 4.2.4).
#pragma once

#include <array>

#include "conformance/message.h"
#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kNomsgHoldsItsPayloadStream{
    "nomsg_holds_its_payload_stream", ledger::ref("RFC8166-4.2.4-8"),
    "An RDMA_NOMSG call has a position-zero read chunk, an RDMA_NOMSG reply a used reply "
    "chunk."};
inline constexpr Rule kPositionZeroChunkMakesANomsg{
    "position_zero_chunk_makes_a_nomsg", ledger::ref("RFC8166-3.5.3-2"),
    "With a position-zero read chunk no payload stream follows the header."};
inline constexpr Rule kInlineReplyLeavesReplyChunkUnused{
    "inline_reply_leaves_reply_chunk_unused", ledger::ref("RFC8166-4.3.3-5"),
    "An RDMA_MSG reply returns the reply chunk with zero lengths."};
inline constexpr Rule kLongPayloadIsRoundedUp{
    "long_payload_is_rounded_up", ledger::ref("RFC8166-3.5.3-9"),
    "A payload stream in a position-zero or reply chunk is a multiple of four octets long."};
inline constexpr Rule kInlinePayloadIsRoundedUp{
    "inline_payload_is_rounded_up", ledger::ref("RFC8166-4-3"),
    "A payload stream in a Send is a multiple of four octets long."};

inline constexpr Rule kReducedResultsLeaveNoRoundup{
    "reduced_results_leave_no_roundup", ledger::ref("RFC8166-3.4.4.4-2"),
    "The payload stream of an inline reply is without the roundup of results in write chunks."};

inline constexpr std::array kFormRules{
    kNomsgHoldsItsPayloadStream, kPositionZeroChunkMakesANomsg, kInlineReplyLeavesReplyChunkUnused,
    kLongPayloadIsRoundedUp,     kInlinePayloadIsRoundedUp,     kReducedResultsLeaveNoRoundup,
};

/// False if the call has no payload stream.
bool check_call_form(const Message& message, Connection& connection);

/// Whether an inline reply has as many odd octets as the results in its write chunks have roundup.
bool keeps_roundup(const Message& reply);

void check_reply_form(const Message& message, Connection& connection);

}  // namespace steertag::conformance
