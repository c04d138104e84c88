// The reference client of NFS version 3 and MOUNT: typed calls over an RPC client.
#pragma once

#include "nfs/mount3_procedures.h"
#include "nfs/nfs3_procedures.h"
#include "peer/client/rpc_client.h"

namespace steertag::peer {

/// Who the client says it is: AUTH_NONE, or AUTH_SYS with these values.
struct Identity {
  bool auth_sys = false;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string machine_name = "steertag";
};

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
  Request request(nfs3::Procedure procedure, const Args& args) const;

  RpcClient& rpc() { return client_; }
  Requester& requester() { return client_.requester(); }

 private:
  Request start(std::uint32_t program, std::uint32_t version, std::uint32_t procedure) const;
  void finish(Request& request) const;

  template <class Result>
  static Expected<Result, CallError> decode(const Expected<View, CallError>& reply) {
    if (!reply) return tl::unexpected(reply.error());
    wire::Reader reader(*reply);
    rpc::ReplyHeader header;
    header.decode(reader);
    Result result;
    result.decode(reader);
    if (reader.ok() && reader.remaining() == 0) return result;
    return tl::unexpected(CallError{CallErrc::bad_results, reader.ok() ? "octets follow the results"
                                                                       : reader.fault().message()});
  }

  RpcClient client_;
  Identity identity_;
};

template <class Args>
Request Nfs3Client::request(nfs3::Procedure procedure, const Args& args) const {
  Request request = start(nfs3::kProgram, nfs3::kVersion, static_cast<std::uint32_t>(procedure));
  wire::Writer writer(request.stream);
  // The eligible argument is last in both procedures that have one (RFC 8267 4): what remains
  // without it ends with its count word.
  if constexpr (std::is_same_v<Args, nfs3::WriteArgs>) {
    nfs3::WriteArgs reduced = args;
    reduced.data = {};
    request.has_item = true;
    request.item = args.data;
    reduced.encode(writer);
  } else if constexpr (std::is_same_v<Args, nfs3::SymlinkArgs>) {
    nfs3::SymlinkArgs reduced = args;
    reduced.symlink.symlink_data = {};
    request.has_item = true;
    request.item = std::as_bytes(std::span(args.symlink.symlink_data));
    reduced.encode(writer);
  } else {
    args.encode(writer);
  }
  finish(request);
  return request;
}

}  // namespace steertag::peer
