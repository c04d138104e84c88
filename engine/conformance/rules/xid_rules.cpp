// Rules on XIDs: checks and texts.
#include "conformance/rules/xid_rules.h"

#include "conformance/text.h"
#include "wire/xdr.h"

namespace steertag::conformance {

namespace {

const Rule& rule_of_rpc_xid(const Message& message) {
  if (message.kind == Kind::call && message.sender == trace::Role::server) {
    return kReverseCallXidIsTheRpcXid;
  }
  if (message.kind == Kind::reply && message.sender == trace::Role::client) {
    return kReverseReplyXidIsTheRpcXid;
  }
  return kXidIsTheRpcXid;
}

/// Whether the RPC message of a reply answers an open call, which is not that of the header.
bool answers_by_rpc_xid(const Message& message, const Direction& direction) {
  if (!message.inline_payload()) return false;
  const Call* meant = direction.calls.find(wire::load_u32(message.payload.data()));
  return meant != nullptr && meant->answers != 0 && !meant->faulty;
}

}  // namespace

bool check_rpc_xid(const Message& message, Connection& connection) {
  if (!message.inline_payload()) return true;
  const std::uint32_t xid = wire::load_u32(message.payload.data());
  if (xid == message.words.xid) return true;
  const Rule& rule = rule_of_rpc_xid(message);
  if (Finding* finding = open_finding(rule, message, connection)) {
    finding->expected = say("XID ", Hex{message.words.xid}, " as in rdma_xid");
    finding->observed = say("XID ", Hex{xid}, " in the RPC message");
  }
  return false;
}

void check_unique(const Message& message, const Call* earlier, Connection& connection) {
  if (earlier == nullptr || earlier->answers == 0 || earlier->faulty || earlier->doubtful) return;
  if (Finding* finding = open_finding(kXidIsUnique, message, connection)) {
    finding->expected = "an XID that no outstanding call has";
    finding->observed = say("rdma_xid ", Hex{message.words.xid}, ", outstanding since ",
                            connection.visibility.index_counts, " ", earlier->event);
  }
}

void check_unexpected_reply(const Message& message, const Call* record, Connection& connection) {
  // It may answer an unseen call with the XID of a message that must be discarded.
  const Direction& answered = connection.direction(trace::other(message.sender));
  if (answered.history_incomplete) return;
  if (record != nullptr && check_discarded(message, *record, connection)) return;
  if (answers_by_rpc_xid(message, answered)) {
    check_rpc_xid(message, connection);
    return;
  }
  if (Finding* finding = open_finding(kReplyAnswersACall, message, connection)) {
    finding->expected = "the XID of an outstanding call";
    finding->observed =
        say("a reply with rdma_xid ", Hex{message.words.xid}, ", for which no call is outstanding");
  }
}

bool check_discarded(const Message& message, const Call& record, Connection& connection) {
  const Rule* rule = &kShortMessageStaysUnanswered;
  std::string_view what = "a message of less than 28 octets";
  switch (record.discard) {
    case Discard::none:
      return false;
    case Discard::too_short:
      break;
    case Discard::done:
      rule = &kDoneStaysUnanswered;
      what = "an RDMA_DONE";
      break;
    case Discard::error:
      rule = &kErrorStaysUnanswered;
      what = "an RDMA_ERROR";
      break;
  }
  if (Finding* finding = open_finding(*rule, message, connection)) {
    finding->expected = "no answer: the message is discarded silently";
    finding->observed = say("an answer with rdma_xid ", Hex{message.words.xid}, " to ", what, " (",
                            connection.visibility.index_counts, " ", record.event, ")");
  }
  return true;
}

}  // namespace steertag::conformance
