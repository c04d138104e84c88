// A client of any program with a binding.
#include "client/rpc_client.h"

#include "nfs/binding.h"
#include "rpc/direction.h"

namespace steertag::peer {

Expected<Request, CallError> make_request(View rpc_call, const FormWish& wish) {
  wire::Reader reader(rpc_call);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok()) return tl::unexpected(CallError{CallErrc::bad_call, reader.fault().message()});
  Request request;
  request.program = header.program;
  request.version = header.version;
  request.procedure = header.procedure;
  request.wish = wish;
  if (const auto reply = nfs::largest_reply(rpc_call)) request.reply = *reply;
  const auto item = nfs::eligible_argument(rpc_call);
  // Both procedures that have an eligible argument end with it (RFC 8267 4).
  const bool whole =
      item && !item->reduced && item->position + wire::roundup4(item->length) == rpc_call.size();
  const std::size_t stream = whole ? item->position : rpc_call.size();
  request.stream.assign(rpc_call.begin(), rpc_call.begin() + static_cast<std::ptrdiff_t>(stream));
  request.has_item = whole;
  if (whole) request.item = rpc_call.subspan(item->position, item->length);
  return request;
}

RpcClient::RpcClient(fabric::Provider& provider, const fabric::Url& url,
                     const RequesterOptions& options, std::uint32_t first_xid, DeadlineClock clock)
    : clock_(std::move(clock)), requester_(provider, url, options, first_xid) {}

Expected<void, CallError> RpcClient::keep(const CallReply& reply) {
  last_header_ = *reply.header;
  last_remotely_invalidated_ = reply.remotely_invalidated;
  if (!reply.rpc.success())
    return tl::unexpected(CallError{CallErrc::rpc_error, std::string(refusal(reply.rpc))});
  reply_.assign(reply.payload.begin(), reply.payload.end());
  if (!reply.item_reduced) return {};
  // The eligible result ends the payload stream of both procedures that have one (RFC 8267 4).
  reply_.insert(reply_.end(), reply.item.begin(), reply.item.end());
  reply_.resize(wire::roundup4(reply_.size()));
  return {};
}

Expected<View, CallError> RpcClient::round_trip(Request request) {
  std::optional<Expected<void, CallError>> outcome;
  const auto deadline = clock_() + timeout_;
  const auto xid = requester_.submit(std::move(request), [&](Expected<CallReply, CallError> reply) {
    if (reply) {
      outcome = keep(*reply);
    } else {
      outcome = tl::unexpected(std::move(reply.error()));
    }
  });
  if (!xid) return tl::unexpected(xid.error());
  while (!outcome) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock_());
    if (left.count() > 0) {
      requester_.step(left);
    } else {
      requester_.give_up(*xid, {CallErrc::timed_out, {}});  // sets the outcome
    }
  }
  if (!*outcome) return tl::unexpected(outcome->error());
  return View(reply_);
}

Expected<View, CallError> RpcClient::round_trip(View rpc_call) {
  auto request = make_request(rpc_call, wish_);
  if (!request) return tl::unexpected(std::move(request.error()));
  return round_trip(std::move(*request));
}

}  // namespace steertag::peer
