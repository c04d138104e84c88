// NFS version 3: procedures on attributes, names and the file system as a whole.
#include "endpoint/limits.h"
#include "server/nfs3/nfs3_convert.h"
#include "server/nfs3/nfs3_program.h"
#include "server/storage/memory_backend.h"
#include "server/storage/permission.h"

namespace steertag::peer {
namespace {

constexpr std::uint32_t kTransferMultiple = 512;  // rtmult, wtmult

}  // namespace

void Nfs3Program::getattr(const nfs3::GetattrArgs& args, Call& call) {
  nfs3::GetattrResult result;
  const auto found = object(args.object);
  if (found) {
    result.ok.obj_attributes = to_nfs3(found->attributes);
  } else {
    result.status = to_nfs3(found.error());
  }
  put(result, call.reply);
}

void Nfs3Program::setattr(const nfs3::SetattrArgs& args, Call& call) {
  nfs3::SetattrResult result;
  const auto found = object(args.object);
  Status status = found ? Status::ok : found.error();
  AttributeChange change = from_nfs3(args.new_attributes);
  if (found && args.guard && !(*args.guard == to_nfs3(found->attributes.ctime)))
    status = Status::not_sync;
  if (status == Status::ok) status = permits_change(found->attributes, call.caller, change);
  if (status == Status::ok) status = may_change(*found);
  if (status == Status::ok) {
    change.mode =
        permitted_mode(found->attributes, call.caller, change, backend_.superuser_owns_all());
  }
  if (status == Status::ok) status = backend_.change(found->node, change);
  result.status = to_nfs3(status);
  result.ok.obj_wcc = result.fail.obj_wcc = wcc(found);
  put(result, call.reply);
}

void Nfs3Program::lookup(const nfs3::LookupArgs& args, Call& call) {
  nfs3::LookupResult result;
  const auto directory = object(args.what.dir);
  Status status = directory ? Status::ok : directory.error();
  if (directory && directory->attributes.type != FileType::directory)
    status = Status::not_directory;
  if (status == Status::ok && !permits(directory->attributes, call.caller, AccessMode::execute))
    status = Status::access;
  Result<NodeId> found = tl::unexpected(status);
  if (status == Status::ok) found = backend_.lookup(directory->node, args.what.name);
  if (directory) result.ok.dir_attributes = after(directory->node);
  if (found) {
    result.ok.object = handle(*found);
    result.ok.obj_attributes = after(*found);
  } else {
    result.status = to_nfs3(found.error());
    result.fail.dir_attributes = result.ok.dir_attributes;
  }
  put(result, call.reply);
}

void Nfs3Program::access(const nfs3::AccessArgs& args, Call& call) {
  nfs3::AccessResult result;
  const auto found = object(args.object);
  if (!found) {
    result.status = to_nfs3(found.error());
    return put(result, call.reply);
  }
  const Attributes& attributes = found->attributes;
  const bool is_directory = attributes.type == FileType::directory;
  std::uint32_t granted = 0;
  if (permits(attributes, call.caller, AccessMode::read)) granted |= nfs3::ACCESS3_READ;
  // RFC 1813 3.3.4: rights on a read-only file system are those that it leaves.
  if (!backend_.read_only(found->node) && permits(attributes, call.caller, AccessMode::write)) {
    granted |= nfs3::ACCESS3_MODIFY | nfs3::ACCESS3_EXTEND;
    if (is_directory) granted |= nfs3::ACCESS3_DELETE;
  }
  if (permits(attributes, call.caller, AccessMode::execute))
    granted |= is_directory ? nfs3::ACCESS3_LOOKUP : nfs3::ACCESS3_EXECUTE;
  result.ok.obj_attributes = to_nfs3(attributes);
  result.ok.access = granted & args.access;
  put(result, call.reply);
}

void Nfs3Program::fsstat(const nfs3::FsstatArgs& args, Call& call) {
  nfs3::FsstatResult result;
  const auto found = object(args.fsroot);
  if (!found) {
    result.status = to_nfs3(found.error());
    return put(result, call.reply);
  }
  const SpaceUsage space = backend_.space();
  result.ok.obj_attributes = to_nfs3(found->attributes);
  result.ok.tbytes = space.total_bytes;
  result.ok.fbytes = result.ok.abytes = space.free_bytes;
  result.ok.tfiles = space.total_files;
  result.ok.ffiles = result.ok.afiles = space.free_files;
  put(result, call.reply);
}

void Nfs3Program::fsinfo(const nfs3::FsinfoArgs& args, Call& call) {
  nfs3::FsinfoResult result;
  const auto found = object(args.fsroot);
  if (!found) {
    result.status = to_nfs3(found.error());
    return put(result, call.reply);
  }
  result.ok.obj_attributes = to_nfs3(found->attributes);
  result.ok.rtmax = result.ok.rtpref = backend_.largest_transfer_bytes();
  result.ok.wtmax = result.ok.wtpref = backend_.largest_transfer_bytes();
  result.ok.rtmult = result.ok.wtmult = kTransferMultiple;
  result.ok.dtpref = kLargestListing;
  result.ok.maxfilesize = backend_.largest_file_bytes();
  result.ok.time_delta = {0, 1};
  result.ok.properties =
      nfs3::FSF3_LINK | nfs3::FSF3_SYMLINK | nfs3::FSF3_HOMOGENEOUS | nfs3::FSF3_CANSETTIME;
  put(result, call.reply);
}

void Nfs3Program::pathconf(const nfs3::PathconfArgs& args, Call& call) {
  nfs3::PathconfResult result;
  const auto found = object(args.object);
  if (!found) {
    result.status = to_nfs3(found.error());
    return put(result, call.reply);
  }
  result.ok.obj_attributes = to_nfs3(found->attributes);
  result.ok.linkmax = kMostLinks;
  result.ok.name_max = kLongestName;
  result.ok.no_trunc = true;
  result.ok.chown_restricted = true;
  result.ok.case_preserving = true;
  put(result, call.reply);
}

}  // namespace steertag::peer
