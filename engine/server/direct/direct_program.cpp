// The procedures of direct access.
#include "server/direct/direct_program.h"

#include <algorithm>
#include <limits>

#include "endpoint/limits.h"
#include "server/storage/permission.h"
#include "server/v4/directory_access.h"
#include "server/v4/state/tables.h"
#include "server/v4/status_map.h"

namespace steertag::peer {
namespace {

constexpr std::uint32_t kMinorVersion = 1;  // of the stateids
constexpr std::byte kUncleared{0xa5};       // see GrantPolicy

template <class Result>
void refuse(nfs4::Status status, ReplyPayload& reply) {
  Result result;
  result.status = status;
  put(result, reply);
}

/// Its write chunk is used up all the same, and comes back empty.
void refuse_read(nfs4::Status status, ReplyPayload& reply) {
  refuse<direct::ReadResult>(status, reply);
  reply.add_item(reply.slices().size(), 0);
}

/// The sum, or the largest number.
std::uint64_t end_of(std::uint64_t offset, std::uint64_t count) {
  return count > std::numeric_limits<std::uint64_t>::max() - offset
             ? std::numeric_limits<std::uint64_t>::max()
             : offset + count;
}

}  // namespace

DirectProgram::DirectProgram(Backend& storage, Nfs4State& state,
                             std::shared_ptr<DirectAccess> access)
    : storage_(storage), state_(state), access_(std::move(access)) {}

DirectProgram::~DirectProgram() {
  storage_.observe(nullptr);
}

template <class Args>
rpc::AcceptStatus DirectProgram::run(void (DirectProgram::*handler)(const Args&, Call&),
                                     wire::Reader& arguments, Call& call) {
  Args args;
  args.decode(arguments);
  if (!arguments.ok() || arguments.remaining() > 0) return rpc::AcceptStatus::GARBAGE_ARGS;
  (this->*handler)(args, call);
  return rpc::AcceptStatus::SUCCESS;
}

rpc::AcceptStatus DirectProgram::call(std::uint32_t procedure, wire::Reader& arguments,
                                      const CallContext& context, ReplyPayload& reply) {
  using direct::Procedure;
  Call call{context, access_->user_of(context.connection), reply};
  switch (static_cast<Procedure>(procedure)) {
    case Procedure::DIRECTPROC1_NULL:
      return rpc::AcceptStatus::SUCCESS;  // any arguments are void
    case Procedure::DIRECTPROC1_HELLO:
      return run(&DirectProgram::hello, arguments, call);
    case Procedure::DIRECTPROC1_REFS:
      return run(&DirectProgram::refs, arguments, call);
    case Procedure::DIRECTPROC1_READ:
      return run(&DirectProgram::read, arguments, call);
    case Procedure::DIRECTPROC1_BATCH:
      return run(&DirectProgram::batch, arguments, call);
    case Procedure::DIRECTPROC1_RETURN:
      return run(&DirectProgram::take_back, arguments, call);
    case Procedure::DIRECTPROC1_COUNTERS:
      put(access_->counters(), reply);
      return rpc::AcceptStatus::SUCCESS;
  }
  return rpc::AcceptStatus::PROC_UNAVAIL;
}

bool DirectProgram::has_lost_client(DirectUser& user) {
  if (user.hello().clientid == 0) return false;
  const GrantPolicy& policy = access_->policy().grants;
  StateTables& tables = state_.tables();
  const Client* client = tables.find_client(user.hello().clientid);
  if (client) user.note_renewal(client->renewed);
  if (!client && tables.now() - user.renewed() > tables.options.lease) return policy.follows_leases;
  if (!client && policy.follows_clients) return true;
  return policy.follows_sessions &&
         std::ranges::any_of(user.sessions(), [&](const nfs4::SessionId& session) {
           return tables.find_session(session) == nullptr;
         });
}

void DirectProgram::follow_reads(DirectUser& user) {
  const ReadPolicy& policy = access_->policy().reads;
  if (!user.take_reads()) return;
  Client* client = state_.tables().find_client(user.hello().clientid);
  if (policy.renews_lease && client) state_.tables().renew(*client);
  if (!policy.touches_files || !user.frames()) return;
  AttributeChange touch;
  touch.atime.to_server_time = true;
  for (const NodeId node : user.frames()->nodes()) (void)storage_.change(node, touch);
}

void DirectProgram::tend() {
  access_->end_users([this](DirectUser& user) {
    follow_reads(user);
    return has_lost_client(user);
  });
  access_->tend();
}

void DirectProgram::hello(const direct::HelloArgs& args, Call& call) {
  const Client* client = args.clientid == 0 ? nullptr : state_.tables().find_client(args.clientid);
  if (args.clientid != 0 && !client)
    return refuse<direct::HelloResult>(nfs4::Status::NFS4ERR_STALE_CLIENTID, call.reply);
  const auto user = access_->hello(args, call.context.connection);
  if (!user) return refuse<direct::HelloResult>(user.error(), call.reply);
  if (client) (*user)->keep_sessions(client->sessions);
  direct::HelloResult result;
  result.resok4.ticket = (*user)->ticket();
  result.resok4.block_bytes = access_->limits().block_bytes;
  result.resok4.most_references = static_cast<std::uint32_t>(access_->limits().frames_of_user);
  result.resok4.lease_seconds = static_cast<std::uint32_t>(access_->limits().lease.count());
  result.resok4.netid = "rdma";  // at the address of this connection
  put(result, call.reply);
}

Expected<DirectProgram::File, nfs4::Status> DirectProgram::readable(
    const direct::FileHandle& handle, const direct::StateId& stateid, const Call& call,
    bool checks_permission) {
  const auto node = storage_.resolve(handle.view());
  if (!node) return tl::unexpected(to_nfs4(node.error()));
  const auto attributes = storage_.attributes(*node);
  if (!attributes) return tl::unexpected(to_nfs4(attributes.error()));
  nfs4::Status status = check_regular(*attributes, kMinorVersion);
  if (checks_permission && status == nfs4::Status::NFS4_OK &&
      !permits_io(*attributes, call.context.caller, AccessMode::read))
    status = nfs4::Status::NFS4ERR_ACCESS;
  if (status == nfs4::Status::NFS4_OK) {
    std::optional<std::uint64_t> client;
    if (call.user && call.user->hello().clientid != 0) client = call.user->hello().clientid;
    status =
        state_.check_io(kMinorVersion, client, stateid, storage_.handle(*node), AccessMode::read);
  }
  if (status != nfs4::Status::NFS4_OK) return tl::unexpected(status);
  return File{*node, *attributes};
}

bool DirectProgram::fill(NodeId node, std::uint64_t offset, MutableView data) {
  slices_.clear();
  const auto found = storage_.read(node, offset, static_cast<std::uint32_t>(data.size()), slices_);
  std::size_t at = 0;
  for (const Slice& slice : slices_) {
    std::ranges::copy(slice.bytes, data.begin() + static_cast<std::ptrdiff_t>(at));
    at += slice.bytes.size();
  }
  slices_.clear();
  if (!access_->policy().grants.clears_memory) {
    for (auto octet = data.rbegin(); octet != data.rend() && *octet == std::byte{0}; ++octet)
      *octet = kUncleared;
  }
  return found && at == data.size();
}

std::vector<direct::Reference> DirectProgram::grant(const File& file, std::uint64_t from,
                                                    std::uint64_t to, std::uint32_t most,
                                                    Call& call) {
  std::vector<direct::Reference> references;
  // Not after a READ has found the user ended.
  if (!call.user || !call.user->is_up()) return references;
  Frames& frames = *call.user->frames();
  const std::uint64_t size = file.attributes.size_bytes;
  most = std::min<std::uint32_t>(most, direct::kMostReferences);
  to = std::min(to, size);
  const std::uint32_t block_bytes = access_->limits().block_bytes;
  for (std::uint64_t at = from - from % block_bytes; at < to && references.size() < most;
       at += block_bytes) {
    const Frames::Block block{file.node, at / block_bytes};
    auto reference = frames.renew(block, access_->now());
    if (!reference) {
      if (++call.new_grants > kMostNewGrants) break;
      const auto length =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(block_bytes, size - at));
      reference = frames.grant(block, length, access_->now(),
                               [&](MutableView data) { return fill(file.node, at, data); });
    }
    if (!reference) break;
    references.push_back(*reference);
  }
  return references;
}

void DirectProgram::refs(const direct::RefsArgs& args, Call& call) {
  const auto file = readable(args.file, args.state, call, access_->policy().grants.checks_refs);
  if (!file) return refuse<direct::RefsResult>(file.error(), call.reply);
  direct::RefsResult result;
  result.resok4.change = file->attributes.change;
  result.resok4.size = file->attributes.size_bytes;
  result.resok4.refs =
      grant(*file, args.offset, end_of(args.offset, args.count), args.want_refs, call);
  put(result, call.reply);
}

void DirectProgram::read(const direct::ReadArgs& args, Call& call) {
  const auto file = readable(args.file, args.state, call);
  if (!file) return refuse_read(file.error(), call.reply);
  if (!access_->policy().grants.serves_others && access_->is_used_up_beside(call.user))
    return refuse_read(nfs4::Status::NFS4ERR_DELAY, call.reply);
  const std::size_t first = call.reply.slices().size();
  const auto length = storage_.read(file->node, args.offset, std::min(args.count, kLargestTransfer),
                                    call.reply.slices());
  if (!length) {
    call.reply.slices().resize(first);
    return refuse_read(to_nfs4(length.error()), call.reply);
  }
  const std::uint64_t size = file->attributes.size_bytes;
  wire::Writer writer(call.reply.stream());
  rpc::encode_value(writer, nfs4::Status::NFS4_OK);
  writer.u64(file->attributes.change);
  writer.u64(size);
  // Compared without a sum that could wrap.
  writer.boolean(args.offset >= size || size - args.offset <= *length);
  writer.u32(*length);
  call.reply.add_item(first, *length);
  rpc::encode_value(writer, grant(*file, args.offset, size, args.want_refs, call));
  access_->count_rpc_octets(*length);
}

void DirectProgram::batch(const direct::BatchArgs& args, Call& call) {
  wire::Writer writer(call.reply.stream());
  writer.u32(static_cast<std::uint32_t>(args.reads.size()));
  for (const direct::ReadArgs& each : args.reads) read(each, call);
}

void DirectProgram::take_back(const direct::ReturnArgs& args, Call& call) {
  if (call.user && call.user->frames()) call.user->frames()->take_back(args.refs);
  put(direct::ReturnResult{}, call.reply);
}

}  // namespace steertag::peer
