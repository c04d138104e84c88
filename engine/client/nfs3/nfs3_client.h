// The reference client of NFS version 3 and MOUNT: typed calls over an RPC client.
#pragma once

#include "client/rdma/call_builder.h"
#include "client/rpc_client.h"

namespace steertag::peer {

class Nfs3Client {
 public:
  Nfs3Client(fabric::Provider& provider, const fabric::Url& url, const RequesterOptions& options,
             std::uint32_t first_xid, DeadlineClock clock = std::chrono::steady_clock::now)
      : client_(provider, url, options, first_xid, std::move(clock)) {}

  void set_identity(Identity identity) { identity_ = std::move(identity); }
  void set_wish(const FormWish& wish) { client_.set_wish(wish); }
  void set_timeout(std::chrono::milliseconds timeout) { client_.set_timeout(timeout); }

  /// Calls a procedure and waits. Views in the result point into this client and stay until the
  /// next call.
  template <class Result, class Args>
  Expected<Result, CallError> call(nfs3::Procedure procedure, const Args& args) {
    return decode<Result>(client_.round_trip(request(procedure, args)));
  }
  /// MNT: the handle of an exported directory.
  Expected<mount3::MntResult, CallError> mount(std::string_view path);

  /// The message of a call, to be submitted without waiting. Octets that `args` points to must stay
  /// until the reply.
  template <class Args>
  Request request(nfs3::Procedure procedure, const Args& args) const {
    Request request = nfs3_call(procedure, args, identity_);
    request.wish = client_.wish();
    return request;
  }

  RpcClient& rpc() { return client_; }
  Requester& requester() { return client_.requester(); }

 private:
  template <class Result>
  static Expected<Result, CallError> decode(const Expected<View, CallError>& reply) {
    if (!reply) return tl::unexpected(reply.error());
    wire::Reader reader(*reply);
    rpc::ReplyHeader header;
    header.decode(reader);
    return decode_results<Result>(reader.rest());
  }

  RpcClient client_;
  Identity identity_;
};

}  // namespace steertag::peer
