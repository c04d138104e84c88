// Rules of RFC 5666 and RFC 5667 that differ from those of their successors.
//
// No current peer must obey them. They judge a capture of such a system when the user selects the
// profile.
#pragma once

#include <array>

#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kRfc5666HeaderIsXdr{
    "rfc5666_header_is_xdr", ledger::ref("RFC5666-4.3-2"),
    "A message holds the fixed words, and the body that its procedure asks for."};
inline constexpr Rule kRfc5666VersionIsOne{"rfc5666_version_is_one", ledger::ref("RFC5666-4.1-1"),
                                           "The version is 1, except in ERR_VERS."};
inline constexpr Rule kRfc5666DoneAndErrorEnd{
    "rfc5666_done_and_error_end", ledger::ref("RFC5666-4.1-3"),
    "Nothing follows the body of RDMA_DONE, ERR_VERS and ERR_CHUNK."};
inline constexpr Rule kRfc5666OtherErrorHasEightWords{
    "rfc5666_other_error_has_eight_words", ledger::ref("RFC5666-4.3-1"),
    "Eight words follow an rdma_err that is neither ERR_VERS nor ERR_CHUNK."};
inline constexpr Rule kRfc5666RpcMessageHasTheXid{
    "rfc5666_rpc_message_has_the_xid", ledger::ref("RFC5666-4.1-5"),
    "An RPC call or reply with the XID of the header follows RDMA_MSG and RDMA_MSGP."};
inline constexpr Rule kRfc5666LongMessageComesFirst{
    "rfc5666_long_message_comes_first", ledger::ref("RFC5666-5.1-1"),
    "A long message is the first entry of the read list, at position zero, or the reply chunk."};
inline constexpr Rule kRfc5666NoChunkOfRoundup{"rfc5666_no_chunk_of_roundup",
                                               ledger::ref("RFC5666-3.7-1"),
                                               "No read segment holds nothing but roundup."};
inline constexpr Rule kRfc5666GrantWhileIdle{
    "rfc5666_grant_while_idle", ledger::ref("RFC5666-3.3-2"),
    "The grant is above zero when no other call waits for its reply."};
inline constexpr Rule kRfc5666DoneAnswersReadChunks{
    "rfc5666_done_answers_read_chunks", ledger::ref("RFC5666-3.5-1"),
    "RDMA_DONE comes once, for a reply with read chunks."};
inline constexpr Rule kRfc5666WriteListIsReturned{
    "rfc5666_write_list_is_returned", ledger::ref("RFC5666-3.6-1"),
    "The chunks of a returned write list are those of the call, with other lengths."};
inline constexpr Rule kRfc5666ReturnedLengthIsInReach{
    "rfc5666_returned_length_is_in_reach", ledger::ref("RFC5666-3.7-3"),
    "A write chunk returns no more than it holds, but for the roundup of its item."};
inline constexpr Rule kRfc5667SegmentsAreFilledInOrder{
    "rfc5667_segments_are_filled_in_order", ledger::ref("RFC5667-3-3"),
    "A segment of a write chunk is used when the one before it is full."};
inline constexpr Rule kRfc5667EmptyChunkMeansInline{
    "rfc5667_empty_chunk_means_inline", ledger::ref("RFC5667-5-7"),
    "A write chunk that can hold nothing comes back with nothing."};
inline constexpr Rule kRfc5666ConfigurationIsXdr{
    "rfc5666_configuration_is_xdr", ledger::ref("RFC5666-6.2-5"),
    "Arguments and result of CONF_RDMA are three words each."};
inline constexpr Rule kRfc5666CallFitsConfiguration{
    "rfc5666_call_fits_configuration", ledger::ref("RFC5666-6.2-1"),
    "An inline call is no larger than the server's maxcall_sendsize."};

inline constexpr std::array kRfc5666Rules{
    kRfc5666HeaderIsXdr,
    kRfc5666VersionIsOne,
    kRfc5666DoneAndErrorEnd,
    kRfc5666OtherErrorHasEightWords,
    kRfc5666RpcMessageHasTheXid,
    kRfc5666LongMessageComesFirst,
    kRfc5666NoChunkOfRoundup,
    kRfc5666GrantWhileIdle,
    kRfc5666DoneAnswersReadChunks,
    kRfc5666WriteListIsReturned,
    kRfc5666ReturnedLengthIsInReach,
    kRfc5667SegmentsAreFilledInOrder,
    kRfc5667EmptyChunkMeansInline,
    kRfc5666ConfigurationIsXdr,
    kRfc5666CallFitsConfiguration,
};

}  // namespace steertag::conformance
