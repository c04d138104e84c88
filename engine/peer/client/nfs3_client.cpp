// The reference client of NFS version 3 and MOUNT.
#include "peer/client/nfs3_client.h"

#include "nfs/binding.h"
#include "rpc/auth.h"

namespace steertag::peer {

Nfs3Client::Nfs3Client(fabric::Provider& provider, const fabric::Url& url,
                       const RequesterOptions& options, std::uint32_t first_xid,
                       DeadlineClock clock)
    : clock_(std::move(clock)), requester_(provider, url, options, first_xid) {}

Request Nfs3Client::start(std::uint32_t program, std::uint32_t version,
                          std::uint32_t procedure) const {
  Request request;
  request.program = program;
  request.version = version;
  request.procedure = procedure;
  request.wish = wish_;
  rpc::CallHeader header;
  header.program = program;
  header.version = version;
  header.procedure = procedure;
  Bytes credential;
  if (identity_.auth_sys) {
    rpc::AuthSys parameters;
    parameters.machine_name = identity_.machine_name;
    parameters.uid = identity_.uid;
    parameters.gid = identity_.gid;
    credential = rpc::encode_auth_sys(parameters);
    header.credential = {rpc::AuthFlavor::AUTH_SYS, credential};
  }
  wire::Writer writer(request.stream);
  header.encode(writer);
  return request;
}

void Nfs3Client::finish(Request& request) const {
  if (const auto reply = nfs::largest_reply(request.stream)) request.reply = *reply;
  if (!request.has_item) return;
  wire::Writer writer(request.stream);
  writer.patch_u32(request.stream.size() - 4, static_cast<std::uint32_t>(request.item.size()));
}

void Nfs3Client::keep(const CallReply& reply) {
  last_header_ = *reply.header;
  last_remotely_invalidated_ = reply.remotely_invalidated;
  reply_.assign(reply.payload.begin(), reply.payload.end());
  if (!reply.item_reduced) return;
  // The eligible result ends the payload stream of both procedures that have one (RFC 8267 4).
  reply_.insert(reply_.end(), reply.item.begin(), reply.item.end());
  reply_.resize(wire::roundup4(reply_.size()));
}

Expected<View, CallError> Nfs3Client::round_trip(Request request) {
  std::optional<Expected<void, CallError>> outcome;
  const auto deadline = clock_() + timeout_;
  const std::uint32_t xid =
      requester_.submit(std::move(request), [&](Expected<CallReply, CallError> reply) {
        if (!reply) {
          outcome = Unexpected(std::move(reply.error()));
        } else if (!reply->rpc.success()) {
          const auto& rpc = reply->rpc;
          const bool accepted = rpc.status == rpc::ReplyStatus::MSG_ACCEPTED;
          outcome = Unexpected(CallError{
              CallErrc::rpc_error,
              std::string(accepted ? rpc::name(rpc.accept_status) : rpc::name(rpc.reject_status))});
          last_header_ = *reply->header;
        } else {
          keep(*reply);
          outcome = Expected<void, CallError>{};
        }
      });
  while (!outcome) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock_());
    if (left.count() <= 0) {
      requester_.give_up(xid, {CallErrc::timed_out, {}});
      break;
    }
    requester_.step(left);
  }
  if (!outcome) return Unexpected(CallError{CallErrc::timed_out, {}});
  if (!*outcome) return Unexpected(outcome->error());
  return View(reply_);
}

Expected<mount3::MntResult, CallError> Nfs3Client::mount(std::string_view path) {
  Request request = start(mount3::kProgram, mount3::kVersion,
                          static_cast<std::uint32_t>(mount3::Procedure::MOUNTPROC3_MNT));
  wire::Writer writer(request.stream);
  mount3::DirPath{path}.encode(writer);
  finish(request);
  return decode<mount3::MntResult>(round_trip(std::move(request)));
}

}  // namespace steertag::peer
