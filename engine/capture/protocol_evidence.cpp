// Reads fixed words only: a message that breaks rules must still be recognized.
#include "capture/protocol_evidence.h"

#include "wire/header.h"
#include "wire/xdr.h"

namespace steertag::capture {
namespace {

constexpr std::uint32_t kMostProcedure = 4;  // RFC 8166 4.2.4: RDMA_ERROR
constexpr std::uint32_t kCall = 0;
constexpr std::uint32_t kReply = 1;
constexpr std::uint32_t kRpcVersion = 2;
// RFC 5531 8.2: programs from here on are transient. NFSv4 servers use them for callbacks.
constexpr std::uint32_t kFirstTransient = 0x40000000;
constexpr std::uint32_t kLastTransient = 0x5fffffff;
// XID, msg_type, rpcvers, prog: they identify a call's direction.
constexpr std::size_t kCallWords = 16;
constexpr std::size_t kReplyWords = 12;

ProtocolEvidence of_call(View rpc) {
  if (wire::load_u32(rpc.data() + 8) != kRpcVersion) return ProtocolEvidence::unclear;
  const std::uint32_t program = wire::load_u32(rpc.data() + 12);
  const bool transient = program >= kFirstTransient && program <= kLastTransient;
  return transient ? ProtocolEvidence::from_server : ProtocolEvidence::from_client;
}

ProtocolEvidence of_payload(View rpc, std::uint32_t xid) {
  if (rpc.size() < kReplyWords || wire::load_u32(rpc.data()) != xid)
    return ProtocolEvidence::unclear;
  const std::uint32_t type = wire::load_u32(rpc.data() + 4);
  if (type == kCall && rpc.size() >= kCallWords) return of_call(rpc);
  return type == kReply && wire::load_u32(rpc.data() + 8) <= 1 ? ProtocolEvidence::reply
                                                               : ProtocolEvidence::unclear;
}

}  // namespace

ProtocolEvidence protocol_evidence(View send) {
  const auto words = wire::peek(send);
  if (!words) return ProtocolEvidence::unclear;
  if (words->proc > kMostProcedure || words->vers != wire::kVersion) return ProtocolEvidence::other;
  wire::Header header;
  const auto payload = wire::decode(send, header);
  if (!payload) return ProtocolEvidence::unclear;
  switch (header.proc) {
    case wire::Procedure::msg:
      return of_payload(*payload, header.xid);
    case wire::Procedure::nomsg:
      // RFC 8166 3.5: a long call has a read chunk at position zero, which no reply has.
      return ProtocolEvidence::rpcrdma;
    default:
      return ProtocolEvidence::unclear;
  }
}

}  // namespace steertag::capture
