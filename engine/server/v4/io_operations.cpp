// READ, WRITE, COMMIT, READLINK.
#include <algorithm>

#include "endpoint/limits.h"
#include "server/storage/permission.h"
#include "server/v4/directory_access.h"
#include "server/v4/file_operations.h"
#include "server/v4/io_checks.h"
#include "server/v4/state/byte_ranges.h"
#include "server/v4/state/nfs4_state.h"
#include "server/v4/status_map.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

/// What READ and WRITE of the current file ask first.
nfs4::Status check_transfer(const Object& object, const nfs4::StateId& given,
                            std::optional<ByteRange> range, AccessMode want, CompoundCall& call) {
  // First what does not depend on the stateid: for what is not going to be written no delegation
  // may be recalled.
  const nfs4::Status access = check_access(object, want, call);
  if (access != nfs4::Status::NFS4_OK) return access;
  const auto stateid = effective_stateid(call, given);
  if (!stateid) return stateid.error();
  return call.state.check_io(call.minorversion, call.clientid, *stateid, call.current->handle, want,
                             range);
}

}  // namespace

nfs4::Status check_access(const Object& object, AccessMode want, const CompoundCall& call) {
  const nfs4::Status type = check_regular(object.attributes, call.minorversion);
  if (type != nfs4::Status::NFS4_OK) return type;
  if (want == AccessMode::write && call.storage.read_only(object.node))
    return nfs4::Status::NFS4ERR_ROFS;
  return permits_io(object.attributes, call.context.caller, want) ? nfs4::Status::NFS4_OK
                                                                  : nfs4::Status::NFS4ERR_ACCESS;
}

nfs4::Verifier write_verifier(const CompoundCall& call) {
  // RFC 8881 13.7: one for all servers where COMMIT goes through the metadata server.
  const DataServers* data_servers = call.pnfs.data_servers.get();
  const auto shared = data_servers ? data_servers->shared_verifier() : std::nullopt;
  std::uint64_t number = shared.value_or(call.storage.write_verifier());
  if (data_servers && !data_servers->policy().verifier_of_run) number = 0;
  if (call.pnfs.is_data_server() && !data_servers->policy().one_verifier)
    number += *call.pnfs.index + 1;
  nfs4::Verifier verifier;
  wire::store_u64(verifier.data(), number);
  return verifier;
}

void op_read(const nfs4::ReadArgs& args, CompoundCall& call, nfs4::ReadResult& result) {
  const auto object = current_object(call);
  const auto range = byte_range(args.offset, args.count);
  result.status = object ? check_transfer(*object, args.stateid, range, AccessMode::read, call)
                         : object.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  const std::size_t first = call.reply.slices().size();
  // RFC 8881 18.22.3: fewer octets than asked for are no end of the file.
  const std::uint32_t count = std::min(args.count, kLargestTransfer);
  const auto length = call.storage.read(object->node, args.offset, count, call.reply.slices());
  if (!length) {
    call.reply.slices().resize(first);
    result.status = to_nfs4(length.error());
    return;
  }
  // Compared without a sum that could wrap.
  const std::uint64_t size = object->attributes.size_bytes;
  result.resok4.eof = args.offset >= size || size - args.offset <= *length;
  call.item = ResultItem{first, *length};
}

void op_write(const nfs4::WriteArgs& args, CompoundCall& call, nfs4::WriteResult& result) {
  const auto object = current_object(call);
  const auto range = byte_range(args.offset, args.data.size());
  result.status = object ? check_transfer(*object, args.stateid, range, AccessMode::write, call)
                         : object.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  const View data = args.data.first(std::min<std::size_t>(args.data.size(), kLargestTransfer));
  Status status = call.storage.write(object->node, args.offset, data);
  const bool stable = args.stable != nfs4::StableHow::UNSTABLE4;
  if (status == Status::ok && stable) status = call.storage.commit(object->node);
  result.status = to_nfs4(status);
  result.resok4.count = static_cast<std::uint32_t>(data.size());
  result.resok4.committed = stable ? nfs4::StableHow::FILE_SYNC4 : nfs4::StableHow::UNSTABLE4;
  result.resok4.writeverf = write_verifier(call);
}

void op_commit(const nfs4::CommitArgs& /*args*/, CompoundCall& call, nfs4::CommitResult& result) {
  const auto object = current_object(call);
  result.status = object ? check_regular(object->attributes, call.minorversion) : object.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  // The whole file, whatever the range (RFC 8881 18.3.3).
  result.status = to_nfs4(call.storage.commit(object->node));
  result.resok4.writeverf = write_verifier(call);
}

void op_readlink(const nfs4::Void& /*args*/, CompoundCall& call, nfs4::ReadlinkResult& result) {
  const auto object = current_object(call);
  if (!object) {
    result.status = object.error();
    return;
  }
  if (object->attributes.type != FileType::link) {
    // RFC 7530 16.25.5; RFC 8881 18.24.4.
    result.status =
        call.minorversion == 0 ? nfs4::Status::NFS4ERR_INVAL : nfs4::Status::NFS4ERR_WRONG_TYPE;
    return;
  }
  auto text = call.storage.read_link(object->node);
  if (!text) {
    result.status = to_nfs4(text.error());
    return;
  }
  const std::size_t first = call.reply.slices().size();
  const auto length = static_cast<std::uint32_t>(text->bytes.size());
  call.reply.slices().push_back(std::move(*text));
  call.item = ResultItem{first, length};
}

}  // namespace steertag::peer
