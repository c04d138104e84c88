// A client of any program with a binding: takes whole encoded RPC calls, waits for whole replies.
#pragma once

#include "client/rdma/requester.h"
#include "endpoint/deadline_clock.h"

namespace steertag::peer {

/// The request for an encoded, unreduced call (from its XID on, which the requester will replace).
/// The eligible argument stays a view into `rpc_call`. An error if this is no call.
Expected<Request, CallError> make_request(View rpc_call, const FormWish& wish);

class RpcClient {
 public:
  RpcClient(fabric::Provider& provider, const fabric::Url& url, const RequesterOptions& options,
            std::uint32_t first_xid, DeadlineClock clock = std::chrono::steady_clock::now);

  void set_wish(const FormWish& wish) { wish_ = wish; }
  const FormWish& wish() const { return wish_; }
  void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

  /// Sends a request and waits: the unreduced reply (payload stream from its XID on), a view that
  /// stays until the next call. An RPC reply without results is CallErrc::rpc_error.
  Expected<View, CallError> round_trip(Request request);
  Expected<View, CallError> round_trip(View rpc_call);

  /// The transport header of the last reply.
  const wire::Header& last_header() const { return last_header_; }
  bool last_remotely_invalidated() const { return last_remotely_invalidated_; }
  Requester& requester() { return requester_; }

 private:
  Expected<void, CallError> keep(const CallReply& reply);

  DeadlineClock clock_;
  Requester requester_;
  FormWish wish_;
  std::chrono::milliseconds timeout_{10000};
  Bytes reply_;  // the last reply, unreduced
  wire::Header last_header_;
  bool last_remotely_invalidated_ = false;
};

}  // namespace steertag::peer
