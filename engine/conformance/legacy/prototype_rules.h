// Rules on messages of the prototype of 2003.
//
// No current peer must obey them. They judge a capture of such a system when the user selects the
// profile.
#pragma once

#include <array>

#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kPrototypeHeaderIsWhole{"prototype_header_is_whole",
                                              ledger::ref("CALLAGHAN2003-4.4-1"),
                                              "A message starts with XID, version and type."};
inline constexpr Rule kPrototypeTypeIsKnown{"prototype_type_is_known",
                                            ledger::ref("CALLAGHAN2003-4.4-2"),
                                            "The type is 0, a message, or 1, done."};
inline constexpr Rule kPrototypeDoneIsEmpty{"prototype_done_is_empty",
                                            ledger::ref("CALLAGHAN2003-4.4-2"),
                                            "Nothing follows the type of a done message."};
inline constexpr Rule kPrototypeListIsXdr{
    "prototype_list_is_xdr", ledger::ref("CALLAGHAN2003-4.4-3"),
    "The chunk list has whole entries with presence words 1, and a closing 0."};
inline constexpr Rule kPrototypeOffsetsAscend{"prototype_offsets_ascend",
                                              ledger::ref("CALLAGHAN2003-4-1"),
                                              "The chunk list is ordered by XDR offset."};
inline constexpr Rule kPrototypeOffsetZeroIsFirst{
    "prototype_offset_zero_is_first", ledger::ref("CALLAGHAN2003-4.6.2-1"),
    "A chunk at XDR offset zero, the RPC message, is the first one."};
inline constexpr Rule kPrototypeLongMessageIsNotInline{
    "prototype_long_message_is_not_inline", ledger::ref("CALLAGHAN2003-4.6.2-1"),
    "Nothing follows the chunk list of a long message."};
inline constexpr Rule kPrototypeRpcMessageFollows{
    "prototype_rpc_message_follows", ledger::ref("CALLAGHAN2003-4.4-4"),
    "An RPC call or reply follows the chunk list directly."};
inline constexpr Rule kPrototypeMessageFitsReceive{"prototype_message_fits_receive",
                                                   ledger::ref("CALLAGHAN2003-9.4-1"),
                                                   "A message has at most 1024 octets."};
inline constexpr Rule kPrototypeCallsHaveReceives{"prototype_calls_have_receives",
                                                  ledger::ref("CALLAGHAN2003-9.4-1"),
                                                  "At most three calls wait for their replies."};
inline constexpr Rule kPrototypeChunkHasLeastSize{
    "prototype_chunk_has_least_size", ledger::ref("CALLAGHAN2003-3.4-1"),
    "A chunk has octets, and as many as the least size of chunks asks for."};
inline constexpr Rule kPrototypeDoneAnswersChunks{
    "prototype_done_answers_chunks", ledger::ref("CALLAGHAN2003-4.3.1-1"),
    "A done message comes from the client, once, for a reply with chunks."};

inline constexpr std::array kPrototypeRules{
    kPrototypeHeaderIsWhole,
    kPrototypeTypeIsKnown,
    kPrototypeDoneIsEmpty,
    kPrototypeListIsXdr,
    kPrototypeOffsetsAscend,
    kPrototypeOffsetZeroIsFirst,
    kPrototypeLongMessageIsNotInline,
    kPrototypeRpcMessageFollows,
    kPrototypeMessageFitsReceive,
    kPrototypeCallsHaveReceives,
    kPrototypeChunkHasLeastSize,
    kPrototypeDoneAnswersChunks,
};

}  // namespace steertag::conformance
