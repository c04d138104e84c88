// Classifies messages. A visible RPC message type decides the direction (RFC 8167 4.1).
#include "conformance/message.h"

#include "rpc/direction.h"
#include "wire/xdr.h"

namespace steertag::conformance {

namespace {

Kind kind_of_inline(View payload) {
  const std::optional<rpc::MessageType> type = rpc::direction(payload);
  if (!type) return Kind::faulty;
  return *type == rpc::MessageType::CALL ? Kind::call : Kind::reply;
}

/// The payload stream of an RDMA_NOMSG is not visible. A call has a position-zero chunk, and a
/// reply has none. Other messages have the sender's usual direction.
Kind kind_of_nomsg(const Message& message, Connection& connection) {
  const trace::Role sender = message.sender;
  const bool brings_chunk = position_zero_length(*message.header).has_value();
  const Call* answered = connection.direction(trace::other(sender)).calls.find(message.words.xid);
  const bool answers = answered != nullptr && answered->answers > 0;
  if (sender == trace::Role::client) {
    // It has a chunk for the reply, and the call may be unseen (RFC 8167 5.3). No reply has a read
    // list.
    const bool unseen = connection.direction(trace::other(sender)).history_incomplete &&
                        message.header->read_list.empty();
    const bool may_answer = answers || unseen;
    return brings_chunk || !may_answer ? Kind::call : Kind::reply;
  }
  // The old Read-Read model would put a reply there (RFC 8166 A.2). A server that calls back may
  // have done so before, unseen.
  const Direction& own = connection.direction(sender);
  const bool read_read = answers && !own.used && !own.history_incomplete;
  return brings_chunk && !read_read ? Kind::call : Kind::reply;
}

}  // namespace

std::optional<std::uint64_t> position_zero_length(const wire::Header& header) {
  std::optional<std::uint64_t> sum;
  for (const wire::ReadSegment& each : header.read_list) {
    if (each.position == 0) sum = sum.value_or(0) + each.target.length;
  }
  return sum;
}

Message read_message(const trace::Event& event, const trace::Send& send, wire::Header& scratch,
                     Connection& connection) {
  Message message;
  message.event = event.index;
  message.time_ns = event.time_ns;
  message.sender = event.actor;
  message.bytes = send.bytes;
  message.invalidated = send.invalidated;
  message.header = &scratch;
  scratch.clear();
  if (send.bytes.empty()) return message;

  message.kind = Kind::too_short;
  const std::optional<wire::FixedWords> words = wire::peek(send.bytes);
  if (!words) return message;
  message.words = *words;
  // RFC 8166 4.1.2: later versions may redefine the number.
  if (words->proc == static_cast<std::uint32_t>(wire::Procedure::done) &&
      words->vers == wire::kVersion) {
    message.kind = Kind::done;
    return message;
  }
  if (words->proc == static_cast<std::uint32_t>(wire::Procedure::error)) {
    if (send.bytes.size() >= wire::kErrChunkBytes) message.kind = Kind::error;
    return message;
  }
  const Expected<View, wire::Fault> decoded = wire::decode(send.bytes, scratch);
  if (!decoded) {
    message.fault = decoded.error();
    if (message.fault.code != wire::FaultCode::too_short) message.kind = Kind::faulty;
    return message;
  }
  message.payload = *decoded;
  if (scratch.proc == wire::Procedure::msgp) {
    message.kind = Kind::msgp;
    return message;
  }
  message.kind = scratch.proc == wire::Procedure::nomsg ? kind_of_nomsg(message, connection)
                                                        : kind_of_inline(message.payload);
  return message;
}

std::optional<RpcCall> read_rpc_call(const Message& message) {
  constexpr std::size_t kCredentialAt = 24;  // after xid, msg_type, rpcvers, prog, vers, proc
  const View payload = message.payload;
  if (!message.inline_payload() || payload.size() < kCredentialAt + 4) return std::nullopt;
  if (wire::load_u32(payload.data() + 8) != rpc::kRpcVersion) return std::nullopt;
  RpcCall call;
  call.program = wire::load_u32(payload.data() + 12);
  call.version = wire::load_u32(payload.data() + 16);
  call.procedure = wire::load_u32(payload.data() + 20);
  wire::Reader reader(payload.subspan(kCredentialAt));
  rpc::OpaqueAuth credential;
  credential.decode(reader);
  call.wrapping = rpc::wrapping_of(credential);
  return call;
}

}  // namespace steertag::conformance
