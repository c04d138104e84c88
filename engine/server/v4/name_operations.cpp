// Operations that make, remove and move names: CREATE, REMOVE, RENAME, LINK.
#include "nfs/v4/attribute_numbers.h"
#include "server/storage/permission.h"
#include "server/v4/attribute_change.h"
#include "server/v4/component.h"
#include "server/v4/directory_access.h"
#include "server/v4/file_operations.h"
#include "server/v4/state/nfs4_state.h"
#include "server/v4/status_map.h"

namespace steertag::peer {
namespace {

nfs4::Status check_created(const nfs4::CreateType& type, const CompoundCall& call) {
  using nfs4::FileType;
  switch (type.type) {
    case FileType::NF4LNK:
      return type.linkdata.empty() ? nfs4::Status::NFS4ERR_INVAL : nfs4::Status::NFS4_OK;
    case FileType::NF4BLK:
    case FileType::NF4CHR:
      return is_superuser(call.context.caller) ? nfs4::Status::NFS4_OK : nfs4::Status::NFS4ERR_PERM;
    case FileType::NF4DIR:
    case FileType::NF4SOCK:
    case FileType::NF4FIFO:
      return nfs4::Status::NFS4_OK;
    default:
      return nfs4::Status::NFS4ERR_BADTYPE;  // regular files are OPEN's
  }
}

/// Whether what clients hold of the object, or may reclaim, lets its names change.
nfs4::Status check_delegations(const Object& object, CompoundCall& call) {
  if (object.attributes.type != FileType::regular) return nfs4::Status::NFS4_OK;
  return call.state.check_change(call.storage.handle(object.node), call.clientid);
}

/// Whether the name can be moved away from the directory.
nfs4::Status check_moved(const Object& directory, const Object& object, CompoundCall& call) {
  const nfs4::Status status = check_unlink(directory, object, call);
  return status == nfs4::Status::NFS4_OK ? check_delegations(object, call) : status;
}

bool is_last_name(const Object& object) {
  return object.attributes.type == FileType::regular && object.attributes.link_count == 1;
}

/// Whether the name can be removed.
nfs4::Status check_removed(const Object& directory, const Object& object, CompoundCall& call) {
  const nfs4::Status status = check_unlink(directory, object, call);
  if (status != nfs4::Status::NFS4_OK) return status;
  // RFC 8881 18.26.4: known opens are reported at once, without a recall.
  if (!call.state.in_grace() && call.state.denies_removal(call.storage.handle(object.node)))
    return nfs4::Status::NFS4ERR_FILE_OPEN;
  const nfs4::Status delegated = check_delegations(object, call);
  if (delegated != nfs4::Status::NFS4_OK) return delegated;
  return is_last_name(object) &&
                 call.state.recall_layouts(call.storage.handle(object.node), call.clientid)
             ? nfs4::Status::NFS4ERR_DELAY
             : nfs4::Status::NFS4_OK;
}

/// The name is gone. When it was the object's last, its state has no file any more.
void forget_if_gone(const Handle& handle, CompoundCall& call) {
  const auto left = call.storage.resolve(handle);
  if (!left && left.error() == Status::stale) call.state.forget_file(handle);
}

}  // namespace

void op_create(const nfs4::CreateArgs& args, CompoundCall& call, nfs4::CreateResult& result) {
  const auto directory = current_object(call);
  result.status = directory ? check_created(args.objtype, call) : directory.error();
  if (result.status == nfs4::Status::NFS4_OK) result.status = check_component(args.objname);
  if (result.status == nfs4::Status::NFS4_OK) result.status = check_writable(*directory, call);
  if (result.status != nfs4::Status::NFS4_OK) return;
  const auto change = requested_change(args.createattrs, call);
  // RFC 8881 18.4.3: CREATE makes no regular files, and nothing else has a size to set.
  if (!change || change->size_bytes) {
    result.status = change ? nfs4::Status::NFS4ERR_INVAL : change.error();
    return;
  }
  // The same numbers, see FileType.
  NewNode node = new_node(static_cast<FileType>(args.objtype.type), *change, call.context.caller);
  node.link_text = args.objtype.linkdata;
  node.device = {args.objtype.devdata.specdata1, args.objtype.devdata.specdata2};
  const auto created = call.storage.create(directory->node, args.objname, node);
  if (!created) {
    result.status = to_nfs4(created.error());
    return;
  }
  result.resok4.cinfo = change_since(*directory, call);
  result.resok4.attrset = args.createattrs.attrmask;
  // What new_node has left out was not set.
  if (change->uid && !node.change.uid) result.resok4.attrset.reset(nfs4::FATTR4_OWNER);
  if (change->gid && !node.change.gid) result.resok4.attrset.reset(nfs4::FATTR4_OWNER_GROUP);
  result.resok4.attrset.trim();
  set_current(call, *created);
}

void op_remove(const nfs4::RemoveArgs& args, CompoundCall& call, nfs4::RemoveResult& result) {
  const auto directory = current_object(call);
  result.status = directory ? check_directory(directory->attributes) : directory.error();
  if (result.status == nfs4::Status::NFS4_OK) result.status = check_component(args.target);
  if (result.status == nfs4::Status::NFS4_OK) result.status = check_writable(*directory, call);
  if (result.status != nfs4::Status::NFS4_OK) return;
  const auto victim = entry_of(*directory, args.target, call);
  result.status = victim ? check_removed(*directory, *victim, call) : victim.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  const Handle handle = call.storage.handle(victim->node);
  const Status status = victim->attributes.type == FileType::directory
                            ? call.storage.remove_directory(directory->node, args.target)
                            : call.storage.remove(directory->node, args.target);
  result.status = to_nfs4(status);
  if (status != Status::ok) return;
  forget_if_gone(handle, call);
  result.resok4.cinfo = change_since(*directory, call);
}

namespace {

/// What RENAME asks of both directories and both names.
nfs4::Status check_rename(const Object& from, const Object& to, const nfs4::RenameArgs& args,
                          const CompoundCall& call) {
  for (const Object* directory : {&from, &to}) {
    if (directory->attributes.type != FileType::directory) return nfs4::Status::NFS4ERR_NOTDIR;
  }
  for (const std::string_view name : {args.oldname, args.newname}) {
    const nfs4::Status status = check_component(name);
    if (status != nfs4::Status::NFS4_OK) return status;
  }
  if (from.attributes.filesystem_id != to.attributes.filesystem_id)
    return nfs4::Status::NFS4ERR_XDEV;
  const nfs4::Status status = check_writable(from, call);
  return status == nfs4::Status::NFS4_OK ? check_writable(to, call) : status;
}

}  // namespace

void op_rename(const nfs4::RenameArgs& args, CompoundCall& call, nfs4::RenameResult& result) {
  const auto from = saved_object(call);
  const auto to = current_object(call);
  result.status = from ? (to ? check_rename(*from, *to, args, call) : to.error()) : from.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  const auto moved = entry_of(*from, args.oldname, call);
  result.status = moved ? check_moved(*from, *moved, call) : moved.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  const auto victim = entry_of(*to, args.newname, call);
  std::optional<Handle> replaced;
  const auto is_directory = [](const Object& object) {
    return object.attributes.type == FileType::directory;
  };
  if (victim && is_directory(*victim) != is_directory(*moved)) {
    // RFC 7530 16.27.4, RFC 8881 18.26.3: incompatible, open or not.
    result.status = nfs4::Status::NFS4ERR_EXIST;
  } else if (victim && victim->node != moved->node) {
    result.status = check_removed(*to, *victim, call);
    replaced = call.storage.handle(victim->node);
  } else if (victim && call.minorversion > 0 &&
             call.state.denies_removal(call.storage.handle(victim->node))) {
    // RFC 8881 18.26.4: as if they were different files; RFC 7530 16.27.4 has nothing of this.
    result.status = nfs4::Status::NFS4ERR_FILE_OPEN;
  }
  if (result.status != nfs4::Status::NFS4_OK) return;
  result.status = to_nfs4(call.storage.rename(from->node, args.oldname, to->node, args.newname));
  if (result.status != nfs4::Status::NFS4_OK) return;
  if (replaced) forget_if_gone(*replaced, call);
  result.resok4.source_cinfo = change_since(*from, call);
  result.resok4.target_cinfo = change_since(*to, call);
}

void op_link(const nfs4::LinkArgs& args, CompoundCall& call, nfs4::LinkResult& result) {
  const auto file = saved_object(call);
  const auto directory = current_object(call);
  result.status = file ? (directory ? nfs4::Status::NFS4_OK : directory.error()) : file.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  if (file->attributes.type == FileType::directory) {
    result.status = nfs4::Status::NFS4ERR_ISDIR;
    return;
  }
  if (directory->attributes.type != FileType::directory) {
    result.status = nfs4::Status::NFS4ERR_NOTDIR;
    return;
  }
  result.status = check_component(args.newname);
  if (result.status == nfs4::Status::NFS4_OK &&
      file->attributes.filesystem_id != directory->attributes.filesystem_id)
    result.status = nfs4::Status::NFS4ERR_XDEV;
  if (result.status == nfs4::Status::NFS4_OK) result.status = check_writable(*directory, call);
  // RFC 8881 10.4.4: numlinks is an attribute that a delegation covers.
  if (result.status == nfs4::Status::NFS4_OK) result.status = check_delegations(*file, call);
  // RFC 7530 13.2: what LINK of minor version 0 may answer instead.
  if (result.status == nfs4::Status::NFS4ERR_GRACE && call.minorversion == 0)
    result.status = nfs4::Status::NFS4ERR_DELAY;
  if (result.status != nfs4::Status::NFS4_OK) return;
  result.status = to_nfs4(call.storage.link(file->node, directory->node, args.newname));
  if (result.status == nfs4::Status::NFS4_OK) result.resok4.cinfo = change_since(*directory, call);
}

}  // namespace steertag::peer
