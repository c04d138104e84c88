// Deviations of ONC RPC.
#include "server/rpc/rpc_bend.h"

#include "rpc/message.h"
#include "server/rpc/dispatcher.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::size_t kLongBody = 128;  // of AUTH_SYS, which may have 400 octets

}  // namespace

bool denies_call(const Deviations& deviations, View call, ReplyPayload& reply) {
  wire::Reader reader(call);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok()) return false;
  const rpc::OpaqueAuth& credential = header.credential;
  const bool none = credential.flavor == rpc::AuthFlavor::AUTH_NONE;
  const bool denied =
      (none && deviations.has(Deviation::auth_none_refused)) ||
      (credential.body.size() > kLongBody && deviations.has(Deviation::long_auth_sys_refused));
  if (!denied) return false;
  reply.clear();
  put(rpc::ReplyHeader::auth_error(header.xid, rpc::AuthStatus::AUTH_TOOWEAK), reply);
  return true;
}

std::optional<Bytes> without_long_credential(View call) {
  constexpr std::size_t kFlavorAt = 24;
  constexpr std::size_t kLengthAt = kFlavorAt + 4;
  constexpr std::size_t kBodyAt = kLengthAt + 4;
  constexpr std::size_t kMostBody = 400;  // RFC 5531 8.2
  if (call.size() < kBodyAt) return std::nullopt;
  const std::size_t length = wire::load_u32(call.data() + kLengthAt);
  if (length <= kMostBody || length > call.size() - kBodyAt) return std::nullopt;
  const View rest = call.subspan(std::min(call.size(), kBodyAt + wire::roundup4(length)));
  Bytes bent(call.begin(), call.begin() + kBodyAt);
  wire::store_u32(bent.data() + kFlavorAt, static_cast<std::uint32_t>(rpc::AuthFlavor::AUTH_NONE));
  wire::store_u32(bent.data() + kLengthAt, 0);
  bent.insert(bent.end(), rest.begin(), rest.end());
  return bent;
}

void bend_rpc_reply(const Deviations& deviations, ReplyPayload& reply) {
  wire::Reader reader(reply.stream());
  rpc::ReplyHeader header;
  header.decode(reader);
  if (!reader.ok()) return;
  Bytes& stream = reply.stream();
  if (header.status == rpc::ReplyStatus::MSG_DENIED) {
    if (header.reject_status == rpc::RejectStatus::AUTH_ERROR &&
        deviations.has(Deviation::auth_error_without_reason))
      wire::store_u32(stream.data() + stream.size() - 4, 0);
    return;
  }
  if (header.accept_status == rpc::AcceptStatus::PROC_UNAVAIL &&
      deviations.has(Deviation::unknown_procedure_as_garbage))
    Dispatcher::refuse_arguments(header.xid, reply);
  if (header.accept_status == rpc::AcceptStatus::GARBAGE_ARGS &&
      deviations.has(Deviation::error_reply_longer))
    stream.resize(stream.size() + 4);
}

}  // namespace steertag::peer
