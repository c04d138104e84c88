// Rules on XIDs: one per message, unique among outstanding calls, and every answer has its call.
#pragma once

#include <array>

#include "conformance/message.h"
#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kXidIsTheRpcXid{
    "xid_is_the_rpc_xid", ledger::ref("RFC8166-4.2.1-1"),
    "rdma_xid equals the XID of the RPC message that is carried."};
inline constexpr Rule kReverseCallXidIsTheRpcXid{
    "reverse_call_xid_is_the_rpc_xid", ledger::ref("RFC8167-5.1-3"),
    "rdma_xid of a reverse-direction call equals the XID of its RPC header."};
inline constexpr Rule kReverseReplyXidIsTheRpcXid{
    "reverse_reply_xid_is_the_rpc_xid", ledger::ref("RFC8167-5.2-3"),
    "rdma_xid of a reverse-direction reply equals the XID of its RPC header."};
inline constexpr Rule kXidIsUnique{"xid_is_unique", ledger::ref("RFC8167-2.4-1"),
                                   "A requester uses an XID for one outstanding call at a time."};
inline constexpr Rule kReplyAnswersACall{"reply_answers_a_call", ledger::ref("RFC8166-3.3.1-11"),
                                         "Every reply answers an outstanding call, and only once."};
inline constexpr Rule kShortMessageStaysUnanswered{
    "short_message_stays_unanswered", ledger::ref("RFC8166-4.5-1"),
    "A message of less than 28 octets is not answered."};
inline constexpr Rule kDoneStaysUnanswered{"done_stays_unanswered", ledger::ref("RFC8166-4.6.2-2"),
                                           "RDMA_DONE is not answered."};
inline constexpr Rule kErrorStaysUnanswered{"error_stays_unanswered",
                                            ledger::ref("RFC8166-4.2.4-5"),
                                            "A responder does not answer RDMA_ERROR."};

inline constexpr std::array kXidRules{
    kXidIsTheRpcXid,      kReverseCallXidIsTheRpcXid, kReverseReplyXidIsTheRpcXid,
    kXidIsUnique,         kReplyAnswersACall,         kShortMessageStaysUnanswered,
    kDoneStaysUnanswered, kErrorStaysUnanswered,
};

/// Compares the XID in the header with that in the payload stream. False if they differ.
bool check_rpc_xid(const Message& message, Connection& connection);

/// A call whose XID may be in use. `earlier` is the record of that XID, or nullptr.
void check_unique(const Message& message, const Call* earlier, Connection& connection);

/// A reply whose rdma_xid has no open call: `record` has no answer left, or is nullptr. If its RPC
/// message answers one, the fault is that the two XIDs differ.
void check_unexpected_reply(const Message& message, const Call* record, Connection& connection);

/// An answer to a message that must be discarded. False if `record` is another message.
bool check_discarded(const Message& message, const Call& record, Connection& connection);

}  // namespace steertag::conformance
