// Codec of call and reply headers.
#include "rpc/message.h"

namespace steertag::rpc {

namespace {

void expect_type(wire::Reader& reader, MessageType expected) {
  const std::size_t at = reader.offset();
  const std::uint32_t type = reader.u32("msg_type");
  if (type != static_cast<std::uint32_t>(expected)) {
    reader.fail(wire::FaultCode::bad_enum, at, "msg_type");
  }
}

}  // namespace

STEERTAG_DEFINE_XDR(VersionRange)

void CallHeader::decode(wire::Reader& reader) {
  *this = CallHeader{};
  xid = reader.u32("xid");
  expect_type(reader, MessageType::CALL);
  rpcvers = reader.u32("rpcvers");
  // RFC 5531 9: only version 2 defines what follows.
  if (!reader.ok() || rpcvers != kRpcVersion) return;
  program = reader.u32("prog");
  version = reader.u32("vers");
  procedure = reader.u32("proc");
  credential.decode(reader);
  verifier.decode(reader);
}

void CallHeader::encode(wire::Writer& writer) const {
  writer.u32(xid);
  encode_value(writer, MessageType::CALL);
  writer.u32(rpcvers);
  writer.u32(program);
  writer.u32(version);
  writer.u32(procedure);
  credential.encode(writer);
  verifier.encode(writer);
}

void ReplyHeader::decode(wire::Reader& reader) {
  *this = ReplyHeader{};
  xid = reader.u32("xid");
  expect_type(reader, MessageType::REPLY);
  decode_value(reader, status, "reply_stat", 0);
  if (!reader.ok()) return;
  if (status == ReplyStatus::MSG_ACCEPTED) {
    verifier.decode(reader);
    decode_value(reader, accept_status, "accept_stat", 0);
    if (reader.ok() && accept_status == AcceptStatus::PROG_MISMATCH) mismatch.decode(reader);
    return;
  }
  decode_value(reader, reject_status, "reject_stat", 0);
  if (!reader.ok()) return;
  if (reject_status == RejectStatus::RPC_MISMATCH) {
    mismatch.decode(reader);
  } else {
    decode_value(reader, auth_status, "auth_stat", 0);
  }
}

void ReplyHeader::encode(wire::Writer& writer) const {
  writer.u32(xid);
  encode_value(writer, MessageType::REPLY);
  encode_value(writer, status);
  switch (status) {
    case ReplyStatus::MSG_ACCEPTED:
      verifier.encode(writer);
      encode_value(writer, accept_status);
      if (accept_status == AcceptStatus::PROG_MISMATCH) mismatch.encode(writer);
      return;
    case ReplyStatus::MSG_DENIED:
      encode_value(writer, reject_status);
      if (reject_status == RejectStatus::RPC_MISMATCH) mismatch.encode(writer);
      if (reject_status == RejectStatus::AUTH_ERROR) encode_value(writer, auth_status);
      return;
  }
  // An undefined status has no arm: a hostile message ends with it.
}

ReplyHeader ReplyHeader::accepted(std::uint32_t xid, AcceptStatus accept_status) {
  ReplyHeader header;
  header.xid = xid;
  header.accept_status = accept_status;
  return header;
}

ReplyHeader ReplyHeader::program_mismatch(std::uint32_t xid, VersionRange supported) {
  ReplyHeader header = accepted(xid, AcceptStatus::PROG_MISMATCH);
  header.mismatch = supported;
  return header;
}

ReplyHeader ReplyHeader::rpc_mismatch(std::uint32_t xid, VersionRange supported) {
  ReplyHeader header;
  header.xid = xid;
  header.status = ReplyStatus::MSG_DENIED;
  header.reject_status = RejectStatus::RPC_MISMATCH;
  header.mismatch = supported;
  return header;
}

ReplyHeader ReplyHeader::auth_error(std::uint32_t xid, AuthStatus auth_status) {
  ReplyHeader header;
  header.xid = xid;
  header.status = ReplyStatus::MSG_DENIED;
  header.reject_status = RejectStatus::AUTH_ERROR;
  header.auth_status = auth_status;
  return header;
}

}  // namespace steertag::rpc
