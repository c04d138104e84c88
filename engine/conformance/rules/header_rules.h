// Rules on the transport header alone, for any sender (RFC 8166 4.1, 4.2).
#pragma once

#include <array>

#include "conformance/message.h"
#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kHeaderIsXdr{
    "header_is_xdr", ledger::ref("RFC8166-4.1.2-13"),
    "A message holds the fixed words and the body that its procedure asks for."};
inline constexpr Rule kReadListIsXdr{
    "read_list_is_xdr", ledger::ref("RFC8166-4.1.2-3"),
    "The read list is a list of read segments with presence words 1 and a closing 0."};
inline constexpr Rule kWriteListIsXdr{
    "write_list_is_xdr", ledger::ref("RFC8166-4.1.2-5"),
    "The write list is a list of counted chunks with presence words 1 and a closing 0."};
inline constexpr Rule kReplyChunkIsXdr{
    "reply_chunk_is_xdr", ledger::ref("RFC8166-4.7-2"),
    "The reply chunk is a presence word and, after a 1, one counted chunk."};
inline constexpr Rule kVersionIsOne{"version_is_one", ledger::ref("RFC8166-4.2.2-1"),
                                    "rdma_vers is 1."};
inline constexpr Rule kProcedureIsKnown{"procedure_is_known", ledger::ref("RFC8166-4.1.2-12"),
                                        "rdma_proc is one of the five procedures."};
inline constexpr Rule kPositionIsAligned{"position_is_aligned", ledger::ref("RFC8166-3.4.5-3"),
                                         "The position of a read segment is a multiple of four."};
inline constexpr Rule kNomsgHasAList{"nomsg_has_a_list", ledger::ref("RFC8166-4.2.4-2"),
                                     "An RDMA_NOMSG has at least one chunk list."};
inline constexpr Rule kNomsgEndsAfterLists{"nomsg_ends_after_lists", ledger::ref("RFC8166-4.1.2-7"),
                                           "Nothing follows the chunk lists of an RDMA_NOMSG."};
inline constexpr Rule kNoMsgp{"no_msgp", ledger::ref("RFC8166-4.6.1-1"), "RDMA_MSGP is not sent."};
inline constexpr Rule kNoDone{"no_done", ledger::ref("RFC8166-4.6.2-1"), "RDMA_DONE is not sent."};
inline constexpr Rule kPayloadIsAnRpcMessage{
    "payload_is_an_rpc_message", ledger::ref("RFC8166-4.2.4-1"),
    "The payload stream of an RDMA_MSG is an RPC call or reply from its XID on."};

inline constexpr std::array kHeaderRules{
    kHeaderIsXdr,      kReadListIsXdr,         kWriteListIsXdr, kReplyChunkIsXdr,     kVersionIsOne,
    kProcedureIsKnown, kPositionIsAligned,     kNomsgHasAList,  kNomsgEndsAfterLists, kNoMsgp,
    kNoDone,           kPayloadIsAnRpcMessage,
};

/// Judges every message except RDMA_ERROR (see error_rules).
void check_header(const Message& message, Connection& connection);

}  // namespace steertag::conformance
