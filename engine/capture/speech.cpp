// Looks at fixed words only: what breaks rules must still be recognized.
#include "capture/speech.h"

#include "wire/header.h"
#include "wire/xdr.h"

namespace steertag::capture {
namespace {

constexpr std::uint32_t kMostProcedure = 4;  // RFC 8166 4.2.4: RDMA_ERROR
constexpr std::uint32_t kCall = 0;
constexpr std::uint32_t kReply = 1;
constexpr std::uint32_t kRpcVersion = 2;
// RFC 5531 8.2: programs from here on are transient; NFSv4 servers call back under such numbers.
constexpr std::uint32_t kFirstTransient = 0x40000000;
constexpr std::uint32_t kLastTransient = 0x5fffffff;
// XID, msg_type, rpcvers, prog: what tells a call's direction.
constexpr std::size_t kCallWords = 16;
constexpr std::size_t kReplyWords = 12;

Speech of_call(View rpc) {
  if (wire::load_u32(rpc.data() + 8) != kRpcVersion) return Speech::unclear;
  const std::uint32_t program = wire::load_u32(rpc.data() + 12);
  const bool transient = program >= kFirstTransient && program <= kLastTransient;
  return transient ? Speech::from_server : Speech::from_client;
}

Speech of_payload(View rpc, std::uint32_t xid) {
  if (rpc.size() < kReplyWords || wire::load_u32(rpc.data()) != xid) return Speech::unclear;
  const std::uint32_t type = wire::load_u32(rpc.data() + 4);
  if (type == kCall && rpc.size() >= kCallWords) return of_call(rpc);
  return type == kReply && wire::load_u32(rpc.data() + 8) <= 1 ? Speech::reply : Speech::unclear;
}

}  // namespace

Speech speech_of(View send) {
  const auto words = wire::peek(send);
  if (!words) return Speech::unclear;
  if (words->proc > kMostProcedure || words->vers != wire::kVersion) return Speech::other;
  wire::Header header;
  const auto payload = wire::decode(send, header);
  if (!payload) return Speech::unclear;
  switch (header.proc) {
    case wire::Procedure::msg:
      return of_payload(*payload, header.xid);
    case wire::Procedure::nomsg:
      // RFC 8166 3.5: a long call has a read chunk at position zero, which no reply has.
      return Speech::spoken;
    default:
      return Speech::unclear;
  }
}

}  // namespace steertag::capture
