// PUTFH, READ, WRITE and COMMIT at a data server (RFC 8881 13.6).
// Every call asks the authority of the metadata server's state (13.9.2).
#include <algorithm>

#include "endpoint/limits.h"
#include "server/storage/permission.h"
#include "server/v4/directory_access.h"
#include "server/v4/io_checks.h"
#include "server/v4/pnfs/data_servers.h"
#include "server/v4/pnfs/pnfs_operations.h"
#include "server/v4/state/stateids.h"
#include "server/v4/state/tables.h"
#include "server/v4/status_map.h"

namespace steertag::peer {
namespace {

/// Runs of one READ with dense packing: a reply has as many slices at most as one of a file in
/// memory.
constexpr std::size_t kMostRuns = 64;

const PnfsPolicy& policy_of(const CompoundCall& call) {
  return call.pnfs.data_servers->policy();
}

Component component_of(const Object& object, const CompoundCall& call) {
  return {call.pnfs.data_servers->pattern(), object.attributes.file_id, call.current->component};
}

/// What the metadata server says to the caller's wish: nullopt for COMMIT.
nfs4::Status ask(std::optional<AccessMode> want, const nfs4::StateId& stateid,
                 std::optional<ByteRange> range, const CompoundCall& call) {
  const Client* client = call.clientid ? call.state.tables().find_client(*call.clientid) : nullptr;
  if (!client)
    return want ? nfs4::Status::NFS4ERR_BAD_STATEID : nfs4::Status::NFS4ERR_PNFS_NO_LAYOUT;
  // RFC 8881 13.1: its client is the one of the same owner there.
  const LayoutWish wish{call.current->handle, client->owner, want, stateid, range,
                        call.context.arrived};
  return call.pnfs.authority->decide(wish).status;
}

/// The octets of the file between the first and the last of a component's range.
Expected<std::optional<ByteRange>, nfs4::Status> file_range(const Component& component,
                                                            const PnfsPolicy& policy,
                                                            std::uint64_t offset,
                                                            std::uint64_t length) {
  if (length == 0) return std::nullopt;
  if (length - 1 > ~std::uint64_t{0} - offset) return tl::unexpected(nfs4::Status::NFS4ERR_INVAL);
  if (policy.checks_holes && !component.has(offset, length))
    return tl::unexpected(nfs4::Status::NFS4ERR_PNFS_IO_HOLE);
  const Component::Run first = component.at(offset);
  const Component::Run last = component.at(offset + (length - 1));
  if (first.length == 0 || last.length == 0) return tl::unexpected(nfs4::Status::NFS4ERR_FBIG);
  return ByteRange{first.file_offset, last.file_offset};
}

/// What READ and WRITE ask first.
nfs4::Status check_io(const Object& object, const nfs4::StateId& stateid, std::uint64_t offset,
                      std::uint64_t length, AccessMode want, CompoundCall& call) {
  const PnfsPolicy& policy = policy_of(call);
  const nfs4::Status access =
      policy.checks_access ? check_access(object, want, call) : nfs4::Status::NFS4_OK;
  if (access != nfs4::Status::NFS4_OK) return access;
  // RFC 8881 13.9.1: neither special stateids nor such with a seqid.
  if (policy.checks_stateid_form && (stateid.seqid != 0 || is_anonymous(stateid)))
    return nfs4::Status::NFS4ERR_BAD_STATEID;
  const auto range = file_range(component_of(object, call), policy, offset, length);
  return range ? ask(want, stateid, *range, call) : range.error();
}

/// Where the file has an octet of the component.
Component::Run run_at(const Component& component, std::uint64_t offset, const CompoundCall& call) {
  const std::uint64_t unit = call.pnfs.data_servers->pattern().unit_bytes;
  return component.at(policy_of(call).counts_stripes ? offset : offset % unit);
}

/// Appends the octets of the component, up to the end of the file or kMostRuns of them.
Result<std::uint32_t> read_runs(const Component& component, NodeId node, std::uint64_t offset,
                                std::uint32_t count, CompoundCall& call) {
  std::uint32_t done = 0;
  for (std::size_t runs = 0; done < count && runs < kMostRuns; ++runs) {
    const Component::Run run = run_at(component, offset + done, call);
    const auto wanted =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(run.length, count - done));
    const auto length =
        call.storage.read(node, policy_of(call).reads_at_offset ? run.file_offset : done, wanted,
                          call.reply.slices());
    if (!length) return tl::unexpected(length.error());
    done += *length;
    if (*length < wanted) break;
  }
  return done;
}

/// The octets that were written: fewer than there are only if the storage takes no more.
Result<std::uint32_t> write_runs(const Component& component, NodeId node, std::uint64_t offset,
                                 View data, CompoundCall& call) {
  std::size_t done = 0;
  do {  // at most as often as the largest transfer has stripe units
    const Component::Run run = run_at(component, offset + done, call);
    const View part = data.subspan(done, std::min<std::uint64_t>(run.length, data.size() - done));
    const Status status =
        policy_of(call).writes ? call.storage.write(node, run.file_offset, part) : Status::ok;
    if (status != Status::ok && done == 0) return tl::unexpected(status);
    if (status != Status::ok) break;
    done += part.size();
  } while (done < data.size());
  return static_cast<std::uint32_t>(done);
}

}  // namespace

void op_put_component(const nfs4::PutfhArgs& args, CompoundCall& call, nfs4::PutfhResult& result) {
  const auto component = call.pnfs.data_servers->resolve(args.object.view());
  if (!component || call.pnfs.data_servers->server_of(*component) != *call.pnfs.index) {
    result.status = nfs4::Status::NFS4ERR_BADHANDLE;
    return;
  }
  const auto node = call.storage.resolve(component->file);
  if (!node) {
    result.status =
        policy_of(call).removed_is_stale ? to_nfs4(node.error()) : nfs4::Status::NFS4ERR_BADHANDLE;
    return;
  }
  call.current = CurrentFile{component->file, {}, component->index};
}

void op_read_component(const nfs4::ReadArgs& args, CompoundCall& call, nfs4::ReadResult& result) {
  const auto object = current_object(call);
  const std::uint32_t count = std::min(args.count, kLargestTransfer);
  result.status = object
                      ? check_io(*object, args.stateid, args.offset, count, AccessMode::read, call)
                      : object.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  const std::size_t first = call.reply.slices().size();
  const Component component = component_of(*object, call);
  const auto length = read_runs(component, object->node, args.offset, count, call);
  if (!length) {
    call.reply.slices().resize(first);
    result.status = to_nfs4(length.error());
    return;
  }
  // RFC 8881 13.10: the size of the whole file is known here, so that there is no end before it.
  const std::uint64_t size = component.size(object->attributes.size_bytes);
  result.resok4.eof = args.offset >= size || size - args.offset <= *length;
  call.item = ResultItem{first, *length};
}

void op_write_component(const nfs4::WriteArgs& args, CompoundCall& call,
                        nfs4::WriteResult& result) {
  const auto object = current_object(call);
  const View data = args.data.first(std::min<std::size_t>(args.data.size(), kLargestTransfer));
  result.status =
      object ? check_io(*object, args.stateid, args.offset, data.size(), AccessMode::write, call)
             : object.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  const auto length =
      write_runs(component_of(*object, call), object->node, args.offset, data, call);
  const bool stable = args.stable != nfs4::StableHow::UNSTABLE4;
  Status status = length ? Status::ok : length.error();
  if (status == Status::ok && stable) status = call.storage.commit(object->node);
  // COMMIT comes to the storage of the metadata server, which has to find the octets there.
  if (status == Status::ok && call.pnfs.data_servers->pattern().commit_through_server)
    status = call.storage.publish(object->node);
  result.status = to_nfs4(status);
  if (status != Status::ok) return;
  result.resok4.count = *length;
  result.resok4.committed = stable ? nfs4::StableHow::FILE_SYNC4 : nfs4::StableHow::UNSTABLE4;
  result.resok4.writeverf = write_verifier(call);
}

void op_commit_component(const nfs4::CommitArgs& /*args*/, CompoundCall& call,
                         nfs4::CommitResult& result) {
  const auto object = current_object(call);
  result.status = object ? check_regular(object->attributes, call.minorversion) : object.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  result.status = ask(std::nullopt, {}, std::nullopt, call);
  if (result.status != nfs4::Status::NFS4_OK) return;
  // All of the file, whatever the part of it that is here: one storage, and one verifier.
  result.status = to_nfs4(call.storage.commit(object->node));
  result.resok4.writeverf = write_verifier(call);
}

}  // namespace steertag::peer
