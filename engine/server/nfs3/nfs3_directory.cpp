// NFS version 3: procedures that make, remove and move names.
#include "server/nfs3/nfs3_convert.h"
#include "server/nfs3/nfs3_program.h"
#include "server/storage/exclusive_verifier.h"
#include "server/storage/permission.h"

namespace steertag::peer {
namespace {

NewNode new_node(FileType type, const nfs3::Sattr& attributes, const Caller& caller) {
  NewNode node;
  node.type = type;
  node.uid = caller.uid;
  node.gid = caller.gid;
  node.change = from_nfs3(attributes);
  if (!is_superuser(caller)) {
    // Files cannot be given away.
    node.change.uid.reset();
    if (node.change.gid && !in_group(caller, *node.change.gid)) node.change.gid.reset();
  }
  return node;
}

}  // namespace

void Nfs3Program::reply_created(const Result<Object>& directory, const Result<NodeId>& created,
                                Call& call) {
  nfs3::CreateResult result;
  result.ok.dir_wcc = result.fail.dir_wcc = wcc(directory);
  if (created) {
    result.ok.obj = handle(*created);
    result.ok.obj_attributes = after(*created);
  } else {
    result.status = to_nfs3(created.error());
  }
  put(result, call.reply);
}

Result<NodeId> Nfs3Program::create_exclusive(const Object& directory, std::string_view name,
                                             const nfs3::Verifier& verifier, const Caller& caller) {
  // RFC 1813 3.3.8: the verifier has to be kept with the file; its times are free until the client
  // sets them.
  const VerifierTimes times(verifier);
  const auto existing = backend_.lookup(directory.node, name);
  if (existing) {
    const auto attributes = backend_.attributes(*existing);
    if (attributes && times.are_of(*attributes)) return *existing;
    return tl::unexpected(Status::exists);
  }
  NewNode node = new_node(FileType::regular, {}, caller);
  node.change.mode = 0600;
  node.change.atime.to = times.atime;
  node.change.mtime.to = times.mtime;
  return backend_.create(directory.node, name, node);
}

Result<NodeId> Nfs3Program::create_file(const Object& directory, const nfs3::CreateArgs& args,
                                        const Caller& caller) {
  const std::string_view name = args.where.name;
  if (args.how.mode == nfs3::CreateMode::EXCLUSIVE)
    return create_exclusive(directory, name, args.how.verf, caller);
  const auto existing = backend_.lookup(directory.node, name);
  if (!existing) {
    return backend_.create(directory.node, name,
                           new_node(FileType::regular, args.how.obj_attributes, caller));
  }
  const auto attributes = backend_.attributes(*existing);
  if (args.how.mode == nfs3::CreateMode::GUARDED || !attributes ||
      attributes->type != FileType::regular)
    return tl::unexpected(Status::exists);
  AttributeChange change;
  change.size_bytes = args.how.obj_attributes.size;
  if (!change.size_bytes) return *existing;
  Status status = permits_change(*attributes, caller, change);
  if (status == Status::ok) status = may_change({*existing, *attributes});
  if (status == Status::ok) status = backend_.change(*existing, change);
  if (status != Status::ok) return tl::unexpected(status);
  return *existing;
}

void Nfs3Program::create(const nfs3::CreateArgs& args, Call& call) {
  const auto directory = writable_directory(args.where.dir, call.caller);
  Result<NodeId> created = tl::unexpected(directory ? Status::ok : directory.error());
  if (directory) created = create_file(*directory, args, call.caller);
  reply_created(directory, created, call);
}

void Nfs3Program::mkdir(const nfs3::MkdirArgs& args, Call& call) {
  const auto directory = writable_directory(args.where.dir, call.caller);
  Result<NodeId> created = tl::unexpected(directory ? Status::ok : directory.error());
  if (directory) {
    created = backend_.create(directory->node, args.where.name,
                              new_node(FileType::directory, args.attributes, call.caller));
  }
  reply_created(directory, created, call);
}

void Nfs3Program::symlink(const nfs3::SymlinkArgs& args, Call& call) {
  const auto directory = writable_directory(args.where.dir, call.caller);
  Result<NodeId> created = tl::unexpected(directory ? Status::ok : directory.error());
  if (directory) {
    NewNode node = new_node(FileType::link, args.symlink.symlink_attributes, call.caller);
    node.link_text = args.symlink.symlink_data;
    created = backend_.create(directory->node, args.where.name, node);
  }
  reply_created(directory, created, call);
}

void Nfs3Program::mknod(const nfs3::MknodArgs& args, Call& call) {
  const auto directory = writable_directory(args.where.dir, call.caller);
  Result<NodeId> created = tl::unexpected(directory ? Status::ok : directory.error());
  const auto type = static_cast<FileType>(args.what.type);
  const bool device = type == FileType::block || type == FileType::character;
  if (directory && !device && type != FileType::socket && type != FileType::fifo) {
    created = tl::unexpected(Status::bad_type);
  } else if (directory && device && !is_superuser(call.caller)) {
    created = tl::unexpected(Status::not_owner);
  } else if (directory) {
    NewNode node = new_node(type, args.what.attributes, call.caller);
    node.device = {args.what.spec.specdata1, args.what.spec.specdata2};
    created = backend_.create(directory->node, args.where.name, node);
  }
  reply_created(directory, created, call);
}

Status Nfs3Program::may_take(const Object& directory, std::string_view name,
                             const Caller& caller) const {
  const auto node = backend_.lookup(directory.node, name);
  if (!node) return Status::ok;  // the operation itself says why
  const auto attributes = backend_.attributes(*node);
  if (!attributes) return Status::ok;
  if (!permits_unlink(directory.attributes, *attributes, caller)) return Status::access;
  return may_change({*node, *attributes});
}

void Nfs3Program::remove_from(const nfs3::DirOpArgs& what, bool is_directory, Call& call) {
  nfs3::RemoveResult result;
  const auto directory = writable_directory(what.dir, call.caller);
  Status status = directory ? Status::ok : directory.error();
  if (directory) status = may_take(*directory, what.name, call.caller);
  if (status == Status::ok) {
    status = is_directory ? backend_.remove_directory(directory->node, what.name)
                          : backend_.remove(directory->node, what.name);
  }
  result.status = to_nfs3(status);
  result.ok.dir_wcc = result.fail.dir_wcc = wcc(directory);
  put(result, call.reply);
}

void Nfs3Program::remove(const nfs3::RemoveArgs& args, Call& call) {
  remove_from(args.object, false, call);
}

void Nfs3Program::rmdir(const nfs3::RmdirArgs& args, Call& call) {
  remove_from(args.object, true, call);
}

void Nfs3Program::rename(const nfs3::RenameArgs& args, Call& call) {
  nfs3::RenameResult result;
  const auto from = writable_directory(args.from.dir, call.caller);
  const auto to = writable_directory(args.to.dir, call.caller);
  Status status = from ? Status::ok : from.error();
  if (from && !to) status = to.error();
  if (from && to) status = may_take(*from, args.from.name, call.caller);
  if (from && to && status == Status::ok)
    status = may_take(*to, args.to.name, call.caller);  // what would be replaced
  if (status == Status::ok)
    status = backend_.rename(from->node, args.from.name, to->node, args.to.name);
  result.status = to_nfs3(status);
  result.ok.fromdir_wcc = result.fail.fromdir_wcc = wcc(from);
  result.ok.todir_wcc = result.fail.todir_wcc = wcc(to);
  put(result, call.reply);
}

void Nfs3Program::link(const nfs3::LinkArgs& args, Call& call) {
  nfs3::LinkResult result;
  const auto file = object(args.file);
  const auto directory = writable_directory(args.link.dir, call.caller);
  Status status = file ? Status::ok : file.error();
  if (file && !directory) status = directory.error();
  if (file && directory) status = may_change(*file);
  if (status == Status::ok) status = backend_.link(file->node, directory->node, args.link.name);
  result.status = to_nfs3(status);
  if (file) result.ok.file_attributes = result.fail.file_attributes = after(file->node);
  result.ok.linkdir_wcc = result.fail.linkdir_wcc = wcc(directory);
  put(result, call.reply);
}

}  // namespace steertag::peer
