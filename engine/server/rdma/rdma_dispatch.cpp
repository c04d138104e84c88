// What RPC-over-RDMA asks of a rebuilt call.
#include "server/rdma/rdma_dispatch.h"

#include <algorithm>

#include "nfs/eligible_items.h"
#include "rpc/direction.h"

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

}  // namespace

Outcome dispatch(Dispatcher& dispatcher, const RdmaCall& call, const ConnectionInfo& info,
                 ReplyPayload& reply) {
  reply.clear();
  const auto direction = rpc::direction(call.message);
  // No call of ours waits for a reply, and RDMA_ERROR answers calls alone. Under the XID of a reply
  // it would pass for the answer to a forward call with the same XID (RFC 8167 2.4.1).
  if (direction == rpc::MessageType::REPLY) return Outcome::discard;
  // RFC 8166 4.5.2 names differing XIDs as an error of the header.
  if (!direction || rpc::xid(call.message) != call.xid) return Outcome::chunk_error;
  auto admitted = dispatcher.admit(call.message, reply);
  if (!admitted) return Outcome::reply;
  switch (check_binding(call.message, call.chunks)) {
    case BindingFault::mismatch:
      Dispatcher::refuse_arguments(call.xid, reply);
      return Outcome::reply;
    case BindingFault::not_eligible:
      return Outcome::chunk_error;
    case BindingFault::none:
      break;
  }
  admitted->arrived = call.arrived;
  dispatcher.execute(*admitted, info, reply);
  return Outcome::reply;
}

}  // namespace steertag::peer
