// Rules of the upper-layer bindings: reduction of items (RFC 8267 4, 5; RFC 8166 6.1).
#pragma once

#include <array>

#include "conformance/message.h"
#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kOnlyEligibleNfsItemsAreReduced{
    "only_eligible_nfs_items_are_reduced", ledger::ref("RFC8267-4-5"),
    "NFS version 2 and 3: only WRITE data, SYMLINK paths, READ data and READLINK paths are "
    "reduced."};
inline constexpr Rule kOnlyEligibleItemsAreReduced{
    "only_eligible_items_are_reduced", ledger::ref("RFC8166-6.1-1"),
    "MOUNT, NLM, NSM and NFSACL: nothing is reduced."};
inline constexpr Rule kWrappedPayloadIsNotReduced{
    "wrapped_payload_is_not_reduced", ledger::ref("RFC8166-8.2.2.3-1"),
    "With RPCSEC_GSS integrity or privacy nothing is reduced."};
inline constexpr Rule kArgumentIsReducedWhole{
    "argument_is_reduced_whole", ledger::ref("RFC8166-3.4.4.1-2"),
    "A reduced argument leaves nothing but its count in the payload stream."};
inline constexpr Rule kReadChunkIsAsLongAsItsItem{
    "read_chunk_is_as_long_as_its_item", ledger::ref("RFC8166-3.4.5.2-4"),
    "A read chunk is as long as its item, or as its item and the roundup."};
inline constexpr Rule kReadChunkLeavesRoundupOut{
    "read_chunk_leaves_roundup_out", ledger::ref("RFC8166-3.4.5.2-1"),
    "A read chunk leaves the roundup of its item out."};
inline constexpr Rule kArgumentRoundupIsZero{
    "argument_roundup_is_zero", ledger::ref("RFC8166-4-3"),
    "The roundup behind an eligible argument in the payload stream is zeros."};
inline constexpr Rule kWriteListOnlyForEligibleResults{
    "write_list_only_for_eligible_results", ledger::ref("RFC8166-4.3.2-2"),
    "A call whose reply can hold no eligible item offers no write list."};
inline constexpr Rule kOneWriteChunkForOneResult{
    "one_write_chunk_for_one_result", ledger::ref("RFC8166-4.3.2.1-1"),
    "A call whose reply can hold one eligible item offers one write chunk."};
inline constexpr Rule kEligibleResultIsInItsChunk{
    "eligible_result_is_in_its_chunk", ledger::ref("RFC8166-4.3.2-3"),
    "An eligible result for which a write chunk is offered is placed there."};
inline constexpr Rule kEmptyChunkGetsItsResultInline{
    "empty_chunk_gets_its_result_inline", ledger::ref("RFC8166-4.3.2.3-2"),
    "A result for which an empty write chunk is offered stays in the payload stream."};
inline constexpr Rule kWriteChunkIsAsLongAsItsItem{
    "write_chunk_is_as_long_as_its_item", ledger::ref("RFC8166-3.4.6.2-3"),
    "The lengths returned for a write chunk add up to the length of its item."};
inline constexpr Rule kChunkWithoutResultIsUnused{
    "chunk_without_result_is_unused", ledger::ref("RFC8166-4.3.2.2-4"),
    "A write chunk for which the reply has no eligible result is returned unused."};

inline constexpr std::array kBindingRules{
    kOnlyEligibleNfsItemsAreReduced, kOnlyEligibleItemsAreReduced,     kWrappedPayloadIsNotReduced,
    kArgumentIsReducedWhole,         kReadChunkIsAsLongAsItsItem,      kReadChunkLeavesRoundupOut,
    kArgumentRoundupIsZero,          kWriteListOnlyForEligibleResults, kOneWriteChunkForOneResult,
    kEligibleResultIsInItsChunk,     kEmptyChunkGetsItsResultInline,   kWriteChunkIsAsLongAsItsItem,
    kChunkWithoutResultIsUnused,
};

/// Call it for a call whose RPC header is in the Send.
void check_call_binding(const Message& message, const RpcCall& rpc, Connection& connection);

/// Call it for the reply to `call`, which must be clear.
void check_reply_binding(const Message& message, const Call& call, Connection& connection);

}  // namespace steertag::conformance
