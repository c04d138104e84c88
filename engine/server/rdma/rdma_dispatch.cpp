// What RPC-over-RDMA asks of a rebuilt call.
#include "server/rdma/rdma_dispatch.h"

#include <algorithm>

#include "nfs/eligible_items.h"
#include "rpc/direction.h"
#include "server/rpc/rpc_bend.h"

namespace steertag::peer {
namespace {

enum class BindingFault : std::uint8_t { none, not_eligible, mismatch };

/// Whether the chunks are what the binding allows to be reduced (RFC 8166 3.4.5, 6.1).
BindingFault check_binding(View call, std::span<const ReadChunk> chunks) {
  if (chunks.empty()) return BindingFault::none;
  const std::vector<nfs::EligibleItem> items = nfs::eligible_arguments(call, {});
  BindingFault fault = BindingFault::none;
  for (const ReadChunk& chunk : chunks) {
    const auto item = std::ranges::find(items, chunk.position, &nfs::EligibleItem::position);
    if (item == items.end()) return BindingFault::not_eligible;
    // RFC 8166 3.4.5.2: roundup may be in the chunk or not.
    if (chunk.length != item->length && chunk.length != wire::roundup4(item->length))
      fault = BindingFault::mismatch;
  }
  return fault;
}

/// For a deviation only.
bool is_garbage_args(const ReplyPayload& reply) {
  wire::Reader reader(reply.stream());
  rpc::ReplyHeader header;
  header.decode(reader);
  return reader.ok() && header.accept_status == rpc::AcceptStatus::GARBAGE_ARGS;
}

Outcome outcome_of(const Deviations& deviations, ReplyPayload& reply) {
  if (deviations.any()) bend_rpc_reply(deviations, reply);
  const bool drops = deviations.has(Deviation::garbage_args_discarded) && is_garbage_args(reply);
  return drops ? Outcome::discard : Outcome::reply;
}

/// RPC version 2 in place of the call's own, with a deviation.
Bytes as_version_two(View call) {
  constexpr std::size_t kVersionAt = 8;
  Bytes bent(call.begin(), call.end());
  if (bent.size() >= kVersionAt + 4) wire::store_u32(bent.data() + kVersionAt, rpc::kRpcVersion);
  return bent;
}

/// CALL in place of the message's own type, with a deviation.
Bytes as_call(View message) {
  constexpr std::size_t kTypeAt = 4;
  Bytes bent(message.begin(), message.end());
  wire::store_u32(bent.data() + kTypeAt, static_cast<std::uint32_t>(rpc::MessageType::CALL));
  return bent;
}

/// Versions that no program has in place of the true ones, with a deviation.
void bend_versions(ReplyPayload& reply) {
  constexpr std::size_t kRangeAt = 24;
  wire::Reader reader(reply.stream());
  rpc::ReplyHeader header;
  header.decode(reader);
  if (!reader.ok() || header.status != rpc::ReplyStatus::MSG_ACCEPTED ||
      header.accept_status != rpc::AcceptStatus::PROG_MISMATCH)
    return;
  wire::store_u32(reply.stream().data() + kRangeAt, 77);
  wire::store_u32(reply.stream().data() + kRangeAt + 4, 99);
}

/// A server with RPCSEC_GSS has no context for the handle of a credential that it denies otherwise
/// (RFC 2203 5.3.3.3); with a deviation.
void bend_denial(View call, ReplyPayload& reply) {
  constexpr std::size_t kStatusAt = 16;
  wire::Reader call_reader(call);
  rpc::CallHeader header;
  header.decode(call_reader);
  wire::Reader reader(reply.stream());
  rpc::ReplyHeader denial;
  denial.decode(reader);
  if (!call_reader.ok() || header.credential.flavor != rpc::AuthFlavor::RPCSEC_GSS ||
      !reader.ok() || denial.status != rpc::ReplyStatus::MSG_DENIED)
    return;
  wire::store_u32(reply.stream().data() + kStatusAt,
                  static_cast<std::uint32_t>(rpc::AuthStatus::RPCSEC_GSS_CREDPROBLEM));
}

}  // namespace

Outcome refuse_arguments(const Deviations& deviations, std::uint32_t xid, ReplyPayload& reply) {
  Dispatcher::refuse_arguments(xid, reply);
  return outcome_of(deviations, reply);
}

Outcome dispatch(Dispatcher& dispatcher, const Deviations& deviations, const RdmaCall& call,
                 const Origin& origin, ReplyPayload& reply) {
  reply.clear();
  const auto direction = rpc::direction(call.message);
  // No call of ours waits for a reply, and RDMA_ERROR answers calls alone: under the XID of a reply
  // it would be taken for the answer to a forward call that has the same (RFC 8167 2.4.1).
  if (direction == rpc::MessageType::REPLY && !deviations.has(Deviation::reply_executed))
    return Outcome::discard;
  if (!direction || rpc::xid(call.message) != call.xid) {
    // RFC 8166 4.5.2 names differing XIDs as an error of the header.
    return deviations.has(Deviation::xid_mismatch_discarded) ? Outcome::discard
                                                             : Outcome::chunk_error;
  }
  View message = call.message;
  Bytes bent;
  if (deviations.has(Deviation::rpc_version_executed)) message = bent = as_version_two(message);
  if (direction == rpc::MessageType::REPLY) message = bent = as_call(message);
  if (deviations.has(Deviation::long_credential_executed)) {
    if (auto shorter = without_long_credential(message)) message = bent = std::move(*shorter);
  }
  if (deviations.any() && denies_call(deviations, message, reply)) return Outcome::reply;
  auto admitted = dispatcher.admit(message, reply);
  if (!admitted) {
    if (deviations.has(Deviation::program_versions_wrong)) bend_versions(reply);
    const bool takes_token = deviations.has(Deviation::gss_token_in_chunk_taken);
    if (takes_token || deviations.has(Deviation::gss_over_rdma_only)) bend_denial(message, reply);
    if (takes_token && !call.chunks.empty()) {
      reply.stream().clear();
      wire::Writer writer(reply.stream());
      rpc::ReplyHeader::accepted(call.xid, rpc::AcceptStatus::SUCCESS).encode(writer);
    }
    return outcome_of(deviations, reply);
  }
  const BindingFault fault = check_binding(call.message, call.chunks);
  if (fault == BindingFault::mismatch) return refuse_arguments(deviations, call.xid, reply);
  if (fault == BindingFault::not_eligible && !deviations.has(Deviation::reduced_name_accepted) &&
      !deviations.has(Deviation::read_position_ignored))
    return deviations.has(Deviation::reduced_name_discarded) ? Outcome::discard
                                                             : Outcome::chunk_error;
  dispatcher.execute(*admitted, origin, reply);
  return outcome_of(deviations, reply);
}

}  // namespace steertag::peer
