// What the operations of one COMPOUND share.
#include "server/v4/compound_call.h"

#include <algorithm>

#include "server/v4/status_map.h"

namespace steertag::peer {
namespace {

Expected<Object, nfs4::Status> object_of(const CompoundCall& call,
                                         const std::optional<CurrentFile>& file,
                                         nfs4::Status missing) {
  if (!file) return tl::unexpected(missing);
  const auto node = call.storage.resolve(file->handle);
  if (!node) return tl::unexpected(to_nfs4(node.error()));
  const auto attributes = call.storage.attributes(*node);
  if (!attributes) return tl::unexpected(to_nfs4(attributes.error()));
  return Object{*node, *attributes};
}

}  // namespace

std::uint32_t reply_limit(const SlotInUse& slot) {
  return slot.cachethis ? std::min(slot.maxresponsesize, slot.maxresponsesize_cached)
                        : slot.maxresponsesize;
}

std::size_t kept_for_next(const CompoundCall& call) {
  return call.operation_index + 1 < call.operation_count ? kStatusResultBytes : 0;
}

std::size_t room_for_result(const CompoundCall& call, std::size_t limit) {
  const std::size_t used = call.reply.size() + kStatusResultBytes + kept_for_next(call);
  return used < limit ? limit - used : 0;
}

Expected<Object, nfs4::Status> current_object(const CompoundCall& call) {
  return object_of(call, call.current, nfs4::Status::NFS4ERR_NOFILEHANDLE);
}

Expected<Object, nfs4::Status> saved_object(const CompoundCall& call) {
  return object_of(call, call.saved, nfs4::Status::NFS4ERR_NOFILEHANDLE);
}

void set_current(CompoundCall& call, NodeId node) {
  call.current = CurrentFile{call.storage.handle(node), {}};
}

void set_current_stateid(CompoundCall& call, const nfs4::StateId& stateid) {
  if (call.current) call.current->stateid = stateid;
}

Expected<nfs4::StateId, nfs4::Status> effective_stateid(const CompoundCall& call,
                                                        const nfs4::StateId& given) {
  if (call.minorversion == 0 || given != nfs4::StateId{1, {}}) return given;
  // RFC 8881 16.2.3.1.2: a special stateid cannot be passed on in this way.
  if (!call.current || call.current->stateid == nfs4::StateId{})
    return tl::unexpected(nfs4::Status::NFS4ERR_BAD_STATEID);
  return call.current->stateid;
}

}  // namespace steertag::peer
