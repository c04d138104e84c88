// Rules on transport headers: checks and texts.
#include "conformance/rules/header_rules.h"

#include "conformance/text.h"
#include "wire/xdr.h"

namespace steertag::conformance {

namespace {

void report(const Rule& rule, const Message& message, Connection& connection,
            std::string_view expected) {
  if (Finding* finding = open_finding(rule, message, connection)) {
    finding->expected = expected;
    finding->observed = message.fault.message();
    finding->observed += say(" (rdma_xid ", Hex{message.words.xid}, ", rdma_proc ",
                             message.words.proc, ", ", message.bytes.size(), " octets)");
  }
}

const Rule& rule_of_list(wire::ChunkList list) {
  switch (list) {
    case wire::ChunkList::read:
      return kReadListIsXdr;
    case wire::ChunkList::write:
      return kWriteListIsXdr;
    case wire::ChunkList::reply:
      return kReplyChunkIsXdr;
    case wire::ChunkList::none:
      break;
  }
  return kHeaderIsXdr;
}

/// A responder that supports later versions may answer their messages in the same version.
bool answers_foreign_version(const Message& message, Connection& connection) {
  const Direction& answered = connection.direction(trace::other(message.sender));
  const Call* call = answered.calls.find(message.words.xid);
  if (call == nullptr) {
    // Either the call was not seen, or the message is no answer. Most messages of a client are
    // none.
    return answered.history_incomplete && (answered.used || message.sender == trace::Role::server);
  }
  return call->vers != wire::kVersion && call->vers == message.words.vers;
}

void check_fault(const Message& message, Connection& connection) {
  using wire::FaultCode;
  switch (message.fault.code) {
    case FaultCode::none:
    case FaultCode::limit_exceeded:  // our limit, not the protocol's
    case FaultCode::bad_error_code:  // of RDMA_ERROR, which this file does not decode
    case FaultCode::bad_order:       // of the prototype's list, which this file does not decode
    case FaultCode::position_zero_not_first:
      return;
    case FaultCode::bad_version:
      if (answers_foreign_version(message, connection)) return;
      return report(kVersionIsOne, message, connection, "rdma_vers 1");
    case FaultCode::bad_procedure:
      return report(kProcedureIsKnown, message, connection, "rdma_proc 0, 1 or 4");
    case FaultCode::bad_position:
      return report(kPositionIsAligned, message, connection, "a multiple of four");
    case FaultCode::no_chunk:
      return report(kNomsgHasAList, message, connection,
                    "a position-zero read chunk in a call, the reply chunk in a reply");
    case FaultCode::trailing_bytes:
      return report(kNomsgEndsAfterLists, message, connection, "the end of the message");
    case FaultCode::too_short:
      return report(kHeaderIsXdr, message, connection, "at least 28 octets");
    case FaultCode::truncated:
    case FaultCode::bad_boolean:
    case FaultCode::bad_count:
    case FaultCode::bad_enum:
    case FaultCode::bad_padding:
    case FaultCode::bad_string:
      return report(rule_of_list(message.fault.list), message, connection,
                    "a list of XDR optional-data that ends inside the message");
  }
}

void check_short(const Message& message, Connection& connection) {
  // RFC 8881 20.8.3: a client returns credits with Sends of zero length.
  if (message.kind == Kind::empty && message.sender == trace::Role::client) return;
  Finding* finding = open_finding(kHeaderIsXdr, message, connection);
  if (finding == nullptr) return;
  finding->expected = "at least 28 octets, or the 20 of an ERR_CHUNK";
  finding->observed = say("a message of ", message.bytes.size(), " octets");
}

}  // namespace

void check_header(const Message& message, Connection& connection) {
  switch (message.kind) {
    case Kind::empty:
    case Kind::too_short:
      return check_short(message, connection);
    case Kind::done:
      if (Finding* finding = open_finding(kNoDone, message, connection)) {
        finding->expected = "no RDMA_DONE";
        finding->observed = say("RDMA_DONE with rdma_xid ", Hex{message.words.xid});
      }
      return;
    case Kind::error:
      return;
    case Kind::faulty:
      if (message.fault) return check_fault(message, connection);
      if (Finding* finding = open_finding(kPayloadIsAnRpcMessage, message, connection)) {
        finding->expected = "an RPC message: XID, then msg_type 0 (CALL) or 1 (REPLY)";
        finding->observed = message.payload.size() < 8
                                ? say("a payload stream of ", message.payload.size(), " octets")
                                : say("msg_type ", wire::load_u32(message.payload.data() + 4));
      }
      return;
    case Kind::call:
    case Kind::reply:
      return;
    case Kind::msgp:
      if (Finding* finding = open_finding(kNoMsgp, message, connection)) {
        finding->expected = "RDMA_MSG or RDMA_NOMSG";
        finding->observed = say("RDMA_MSGP with rdma_xid ", Hex{message.words.xid});
      }
      return;
  }
}

}  // namespace steertag::conformance
