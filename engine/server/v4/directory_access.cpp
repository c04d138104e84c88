// What operations on directories ask before they look at or change an entry.
#include "server/v4/directory_access.h"

#include "server/storage/permission.h"
#include "server/v4/status_map.h"

namespace steertag::peer {

nfs4::Status check_directory(const Attributes& attributes) {
  return attributes.type == FileType::directory ? nfs4::Status::NFS4_OK
                                                : nfs4::Status::NFS4ERR_NOTDIR;
}

nfs4::Status check_regular(const Attributes& attributes, std::uint32_t minorversion) {
  if (attributes.type == FileType::regular) return nfs4::Status::NFS4_OK;
  if (attributes.type == FileType::directory) return nfs4::Status::NFS4ERR_ISDIR;
  // RFC 7530 16.23.4; RFC 8881 18.22.3.
  if (minorversion == 0) return nfs4::Status::NFS4ERR_INVAL;
  return attributes.type == FileType::link ? nfs4::Status::NFS4ERR_SYMLINK
                                           : nfs4::Status::NFS4ERR_WRONG_TYPE;
}

nfs4::Status check_search(const Object& directory, const CompoundCall& call) {
  const nfs4::Status status = check_directory(directory.attributes);
  if (status != nfs4::Status::NFS4_OK) return status;
  const bool may = permits(directory.attributes, call.context.caller, AccessMode::execute);
  return may ? nfs4::Status::NFS4_OK : nfs4::Status::NFS4ERR_ACCESS;
}

nfs4::Status check_writable(const Object& directory, const CompoundCall& call) {
  const nfs4::Status status = check_directory(directory.attributes);
  if (status != nfs4::Status::NFS4_OK) return status;
  // No caller may, so that it is no matter of permissions.
  if (call.storage.read_only(directory.node)) return nfs4::Status::NFS4ERR_ROFS;
  const bool may = permits(directory.attributes, call.context.caller, AccessMode::write) &&
                   permits(directory.attributes, call.context.caller, AccessMode::execute);
  return may ? nfs4::Status::NFS4_OK : nfs4::Status::NFS4ERR_ACCESS;
}

nfs4::Status check_unlink(const Object& directory, const Object& object, const CompoundCall& call) {
  const bool may = permits_unlink(directory.attributes, object.attributes, call.context.caller);
  return may ? nfs4::Status::NFS4_OK : nfs4::Status::NFS4ERR_ACCESS;
}

Expected<Object, nfs4::Status> entry_of(const Object& directory, std::string_view name,
                                        const CompoundCall& call) {
  const auto node = call.storage.lookup(directory.node, name);
  if (!node) return tl::unexpected(to_nfs4(node.error()));
  const auto attributes = call.storage.attributes(*node);
  if (!attributes) return tl::unexpected(to_nfs4(attributes.error()));
  return Object{*node, *attributes};
}

nfs4::ChangeInfo change_since(const Object& before, const CompoundCall& call) {
  const auto after = call.storage.attributes(before.node);
  return {after.has_value(), before.attributes.change,
          after ? after->change : before.attributes.change};
}

}  // namespace steertag::peer
