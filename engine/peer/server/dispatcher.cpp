// From a rebuilt RPC call to the payload stream of its reply.
#include "peer/server/dispatcher.h"

#include "nfs/binding.h"
#include "rpc/direction.h"

namespace steertag::peer {
namespace {

enum class BindingFault : std::uint8_t { none, not_eligible, mismatch };

/// Whether the chunks are what the binding allows to be reduced (RFC 8166 3.4.5, 6.1).
BindingFault check_binding(View call, std::span<const ReadChunk> chunks) {
  if (chunks.empty()) return BindingFault::none;
  const auto item = nfs::eligible_argument(call);
  if (!item || chunks.size() > nfs::kMostEligibleItems) return BindingFault::not_eligible;
  const ReadChunk& chunk = chunks.front();
  if (chunk.position != item->position) return BindingFault::not_eligible;
  // RFC 8166 3.4.5.2: roundup may be in the chunk or not.
  if (chunk.length != item->length && chunk.length != wire::roundup4(item->length))
    return BindingFault::mismatch;
  return BindingFault::none;
}

}  // namespace

Dispatcher::Dispatcher(std::vector<std::unique_ptr<Program>> programs, const Deviations& deviations)
    : deviations_(deviations) {
  for (auto& program : programs) {
    Versions& versions = programs_[program->number()];
    versions.try_emplace(program->version(), std::move(program));
  }
}

Outcome Dispatcher::refuse_arguments(std::uint32_t xid, ReplyPayload& reply) const {
  if (deviations_.has(Deviation::garbage_args_discarded)) return Outcome::discard;
  return refuse(rpc::ReplyHeader::accepted(xid, rpc::AcceptStatus::GARBAGE_ARGS), reply);
}

Outcome Dispatcher::refuse(const rpc::ReplyHeader& header, ReplyPayload& reply) const {
  reply.clear();
  put(header, reply);
  return Outcome::reply;
}

rpc::AuthStatus Dispatcher::identify(const rpc::OpaqueAuth& credential, Caller& caller) {
  if (credential.flavor == rpc::AuthFlavor::AUTH_NONE) return rpc::AuthStatus::AUTH_OK;
  if (credential.flavor != rpc::AuthFlavor::AUTH_SYS) return rpc::AuthStatus::AUTH_REJECTEDCRED;
  wire::Reader reader(credential.body);
  auth_sys_.decode(reader);
  if (!reader.ok() || reader.remaining() > 0) return rpc::AuthStatus::AUTH_BADCRED;
  caller = {auth_sys_.uid, auth_sys_.gid, auth_sys_.gids};
  return rpc::AuthStatus::AUTH_OK;
}

Outcome Dispatcher::run(std::uint32_t xid, View call, std::span<const ReadChunk> chunks,
                        ReplyPayload& reply) {
  reply.clear();
  const auto direction = rpc::direction(call);
  if (!direction || rpc::xid(call) != xid) {
    // RFC 8166 4.5.2 names differing XIDs as an error of the header.
    return deviations_.has(Deviation::xid_mismatch_discarded) ? Outcome::discard
                                                              : Outcome::chunk_error;
  }
  // No call of ours waits for a reply.
  if (*direction == rpc::MessageType::REPLY) return Outcome::discard;

  using rpc::AcceptStatus;
  wire::Reader reader(call);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok()) return refuse_arguments(xid, reply);
  if (header.rpcvers != rpc::kRpcVersion)
    return refuse(rpc::ReplyHeader::rpc_mismatch(xid, {rpc::kRpcVersion, rpc::kRpcVersion}), reply);
  Caller caller;
  if (const auto status = identify(header.credential, caller); status != rpc::AuthStatus::AUTH_OK)
    return refuse(rpc::ReplyHeader::auth_error(xid, status), reply);
  const auto program = programs_.find(header.program);
  if (program == programs_.end())
    return refuse(rpc::ReplyHeader::accepted(xid, AcceptStatus::PROG_UNAVAIL), reply);
  const Versions& versions = program->second;
  const auto version = versions.find(header.version);
  if (version == versions.end()) {
    const rpc::VersionRange range{versions.begin()->first, versions.rbegin()->first};
    return refuse(rpc::ReplyHeader::program_mismatch(xid, range), reply);
  }

  const BindingFault fault = check_binding(call, chunks);
  if (fault == BindingFault::mismatch) return refuse_arguments(xid, reply);
  if (fault == BindingFault::not_eligible && !deviations_.has(Deviation::reduced_name_accepted) &&
      !deviations_.has(Deviation::read_position_ignored))
    return Outcome::chunk_error;

  put(rpc::ReplyHeader::accepted(xid, AcceptStatus::SUCCESS), reply);
  const AcceptStatus status = version->second->call(header.procedure, reader, caller, reply);
  if (status == AcceptStatus::GARBAGE_ARGS) return refuse_arguments(xid, reply);
  if (status != AcceptStatus::SUCCESS)
    return refuse(rpc::ReplyHeader::accepted(xid, status), reply);
  return Outcome::reply;
}

}  // namespace steertag::peer
