// From an RPC call to the payload stream of its reply.
#include "server/rpc/dispatcher.h"

#include <algorithm>

namespace steertag::peer {
namespace {

void refuse(const rpc::ReplyHeader& header, ReplyPayload& reply) {
  reply.clear();
  put(header, reply);
}

void squash_root(rpc::AuthSys& identity, const Squash& squash) {
  if (identity.uid == 0) identity.uid = squash.uid;
  if (identity.gid == 0) identity.gid = squash.gid;
  std::replace(identity.gids.begin(), identity.gids.end(), std::uint32_t{0}, squash.gid);
}

}  // namespace

Dispatcher::Dispatcher(std::vector<std::unique_ptr<Program>> programs, const Squash& squash,
                       DeadlineClock clock, const RetryPolicy& retries)
    : duplicates_(std::move(clock), retries),
      executes_once_(retries.executes_once),
      squash_(squash) {
  for (auto& program : programs) {
    Versions& versions = programs_[program->number()];
    versions.try_emplace(program->version(), std::move(program));
  }
}

void Dispatcher::refuse_arguments(std::uint32_t xid, ReplyPayload& reply) {
  refuse(rpc::ReplyHeader::accepted(xid, rpc::AcceptStatus::GARBAGE_ARGS), reply);
}

rpc::AuthStatus Dispatcher::identify(const rpc::OpaqueAuth& credential, Caller& caller) {
  if (squash_.of == Squash::Of::all) caller = {squash_.uid, squash_.gid, {}};
  if (credential.flavor == rpc::AuthFlavor::AUTH_NONE) return rpc::AuthStatus::AUTH_OK;
  if (credential.flavor != rpc::AuthFlavor::AUTH_SYS) return rpc::AuthStatus::AUTH_REJECTEDCRED;
  wire::Reader reader(credential.body);
  auth_sys_.decode(reader);
  if (!reader.ok() || reader.remaining() > 0) return rpc::AuthStatus::AUTH_BADCRED;
  if (squash_.of == Squash::Of::all) return rpc::AuthStatus::AUTH_OK;
  if (squash_.of == Squash::Of::root) squash_root(auth_sys_, squash_);
  caller = {auth_sys_.uid, auth_sys_.gid, auth_sys_.gids};
  return rpc::AuthStatus::AUTH_OK;
}

std::optional<AdmittedCall> Dispatcher::admit(View call, ReplyPayload& reply) {
  using rpc::AcceptStatus;
  reply.clear();
  AdmittedCall admitted;
  admitted.octets = call;
  admitted.arguments = wire::Reader(call);
  rpc::CallHeader header;
  header.decode(admitted.arguments);
  const std::uint32_t xid = admitted.xid = call.size() < 4 ? 0 : wire::load_u32(call.data());
  if (!admitted.arguments.ok()) return refuse_arguments(xid, reply), std::nullopt;
  if (header.rpcvers != rpc::kRpcVersion) {
    refuse(rpc::ReplyHeader::rpc_mismatch(xid, {rpc::kRpcVersion, rpc::kRpcVersion}), reply);
    return std::nullopt;
  }
  const auto status = identify(header.credential, admitted.caller);
  if (status != rpc::AuthStatus::AUTH_OK) {
    refuse(rpc::ReplyHeader::auth_error(xid, status), reply);
    return std::nullopt;
  }
  const auto program = programs_.find(header.program);
  if (program == programs_.end()) {
    refuse(rpc::ReplyHeader::accepted(xid, AcceptStatus::PROG_UNAVAIL), reply);
    return std::nullopt;
  }
  const Versions& versions = program->second;
  const auto version = versions.find(header.version);
  if (version == versions.end()) {
    const rpc::VersionRange range{versions.begin()->first, versions.rbegin()->first};
    refuse(rpc::ReplyHeader::program_mismatch(xid, range), reply);
    return std::nullopt;
  }
  admitted.procedure = header.procedure;
  admitted.program = version->second.get();
  return admitted;
}

void Dispatcher::run(AdmittedCall& call, const ConnectionInfo& info, ReplyPayload& reply) {
  using rpc::AcceptStatus;
  reply.clear();
  put(rpc::ReplyHeader::accepted(call.xid, AcceptStatus::SUCCESS), reply);
  const AcceptStatus status =
      call.program->call(call.procedure, call.arguments, {call.caller, info, call.arrived}, reply);
  if (status != AcceptStatus::SUCCESS) refuse(rpc::ReplyHeader::accepted(call.xid, status), reply);
}

void Dispatcher::execute(AdmittedCall& call, const ConnectionInfo& info, ReplyPayload& reply) {
  if (call.program->is_idempotent(call.procedure, call.arguments)) return run(call, info, reply);
  const Bytes* first = duplicates_.find(call.octets, info);
  if (!first || !executes_once_) run(call, info, reply);
  if (first) {
    reply.clear();
    reply.stream() = *first;
    reply.tickets() = call.program->pending();
  } else if (reply.items().empty()) {
    // Data of a READ or READLINK in the same COMPOUND would have to be kept too: no client sends
    // that.
    duplicates_.keep(call.octets, info, reply.stream());
  }
}

void Dispatcher::tend() {
  for (const auto& [number, versions] : programs_) {
    for (const auto& [version, program] : versions) program->tend();
  }
}

}  // namespace steertag::peer
