// The file of an OPEN.
#include "server/v4/open_target.h"

#include "nfs/v4/attribute_numbers.h"
#include "server/storage/exclusive_verifier.h"
#include "server/storage/permission.h"
#include "server/v4/attribute_change.h"
#include "server/v4/attribute_values.h"
#include "server/v4/component.h"
#include "server/v4/directory_access.h"
#include "server/v4/status_map.h"

namespace steertag::peer {
namespace {

using nfs4::ClaimType;
using nfs4::CreateMode;

// EXCLUSIVE4 says nothing of the mode: no other user gets access before the client's SETATTR.
constexpr std::uint32_t kExclusiveMode = 0600;

nfs4::Status check_type(const Attributes& attributes, std::uint32_t minorversion) {
  switch (attributes.type) {
    case FileType::regular:
      return nfs4::Status::NFS4_OK;
    case FileType::directory:
      return nfs4::Status::NFS4ERR_ISDIR;
    case FileType::link:
      return nfs4::Status::NFS4ERR_SYMLINK;
    default:
      // RFC 8881 18.16.3; RFC 7530 16.16.5 has NFS4ERR_SYMLINK for special files of every type.
      return minorversion > 0 ? nfs4::Status::NFS4ERR_WRONG_TYPE : nfs4::Status::NFS4ERR_SYMLINK;
  }
}

/// The claims of a client that has the file open already, under a delegation or before a restart.
bool is_again(ClaimType claim) {
  return claim == ClaimType::CLAIM_PREVIOUS || claim == ClaimType::CLAIM_DELEGATE_CUR ||
         claim == ClaimType::CLAIM_DELEG_CUR_FH;
}

bool is_exclusive(CreateMode mode) {
  return mode == CreateMode::EXCLUSIVE4 || mode == CreateMode::EXCLUSIVE4_1;
}

/// The attributes that the client wants for a new file.
Expected<AttributeChange, nfs4::Status> wanted_attributes(const nfs4::CreateHow& how,
                                                          const CompoundCall& call,
                                                          nfs4::Bitmap& attrset) {
  if (how.mode == CreateMode::EXCLUSIVE4) return AttributeChange{};
  const bool exclusive = how.mode == CreateMode::EXCLUSIVE4_1;
  // RFC 8881 18.16.3: EXCLUSIVE4_1 is of minor version 1, and takes only suppattr_exclcreat.
  if (exclusive && call.minorversion == 0) return tl::unexpected(nfs4::Status::NFS4ERR_INVAL);
  const nfs4::Fattr& fattr = exclusive ? how.ch_createboth.cva_attrs : how.createattrs;
  auto change = requested_change(fattr, call);
  if (change && exclusive && !fattr.attrmask.without(exclusive_attributes()).none())
    return tl::unexpected(nfs4::Status::NFS4ERR_INVAL);
  attrset = fattr.attrmask;
  return change;
}

/// What OPEN4_CREATE does with an entry that is there, or is not.
nfs4::Status plan_creation(const nfs4::CreateHow& how, CompoundCall& call, OpenTarget& target) {
  nfs4::Bitmap attrset;
  const auto change = wanted_attributes(how, call, attrset);
  if (!change) return change.error();
  const VerifierTimes times(how.mode == CreateMode::EXCLUSIVE4 ? how.createverf
                                                               : how.ch_createboth.cva_verf);
  if (is_exclusive(how.mode)) {
    attrset.set(nfs4::FATTR4_TIME_ACCESS);
    attrset.set(nfs4::FATTR4_TIME_MODIFY);
  }
  if (target.file) {
    if (how.mode == CreateMode::GUARDED4) return nfs4::Status::NFS4ERR_EXIST;
    if (is_exclusive(how.mode)) {
      if (!times.are_of(target.file->attributes)) return nfs4::Status::NFS4ERR_EXIST;
      target.same_verifier = true;
      target.attrset = attrset;
      return nfs4::Status::NFS4_OK;
    }
    // Of the attributes only size zero counts for a file that is there.
    if (change->size_bytes == 0 && target.file->attributes.type == FileType::regular) {
      target.change.size_bytes = 0;
      target.truncates = true;
      target.attrset.set(nfs4::FATTR4_SIZE);
    }
    return nfs4::Status::NFS4_OK;
  }
  target.change = *change;
  target.attrset = attrset;
  if (is_exclusive(how.mode)) {
    if (!target.change.mode) target.change.mode = kExclusiveMode;
    target.change.atime = {false, times.atime};
    target.change.mtime = {false, times.mtime};
  }
  return check_writable(*target.directory, call);
}

Expected<OpenTarget, nfs4::Status> find_by_name(std::string_view name, const nfs4::OpenFlag& how,
                                                CompoundCall& call) {
  const auto directory = current_object(call);
  if (!directory) return tl::unexpected(directory.error());
  nfs4::Status status = check_directory(directory->attributes);
  if (status == nfs4::Status::NFS4_OK) status = check_component(name);
  if (status == nfs4::Status::NFS4_OK) status = check_search(*directory, call);
  if (status != nfs4::Status::NFS4_OK) return tl::unexpected(status);
  OpenTarget target;
  target.directory = *directory;
  target.name = name;
  const auto file = entry_of(*directory, name, call);
  if (file) target.file = *file;
  const bool creates = how.opentype == nfs4::OpenType::OPEN4_CREATE;
  const bool absent = !file && file.error() == nfs4::Status::NFS4ERR_NOENT;
  if (!file && !(absent && creates)) return tl::unexpected(file.error());
  if (creates) status = plan_creation(how.how, call, target);
  if (status != nfs4::Status::NFS4_OK) return tl::unexpected(status);
  return target;
}

Expected<OpenTarget, nfs4::Status> find_by_claim(const nfs4::OpenArgs& args, CompoundCall& call) {
  const bool creates = args.openhow.opentype == nfs4::OpenType::OPEN4_CREATE;
  switch (args.claim.claim) {
    case ClaimType::CLAIM_NULL:
      return find_by_name(args.claim.file, args.openhow, call);
    case ClaimType::CLAIM_DELEGATE_CUR:
      return find_by_name(args.claim.delegate_cur_info.file, args.openhow, call);
    case ClaimType::CLAIM_FH:
    case ClaimType::CLAIM_DELEG_CUR_FH:
      if (call.minorversion == 0) return tl::unexpected(nfs4::Status::NFS4ERR_INVAL);
      break;
    case ClaimType::CLAIM_PREVIOUS:
      break;
    default:
      // Delegations do not survive the client's restart here (RFC 8881 10.2.1).
      return tl::unexpected(nfs4::Status::NFS4ERR_NOTSUPP);
  }
  // These take a file that is there. A reclaim may repeat the OPEN4_CREATE of the OPEN that it
  // reclaims: the file has been made.
  if (creates && args.claim.claim != ClaimType::CLAIM_PREVIOUS)
    return tl::unexpected(nfs4::Status::NFS4ERR_INVAL);
  const auto file = current_object(call);
  if (!file) return tl::unexpected(file.error());
  OpenTarget target;
  target.file = *file;
  return target;
}

}  // namespace

Expected<OpenTarget, nfs4::Status> find_open_target(const nfs4::OpenArgs& args,
                                                    CompoundCall& call) {
  auto target = find_by_claim(args, call);
  if (!target || !target->file) return target;
  const nfs4::Status status = check_type(target->file->attributes, call.minorversion);
  if (status != nfs4::Status::NFS4_OK) return tl::unexpected(status);
  return target;
}

nfs4::Status check_open_access(const OpenTarget& target, const nfs4::OpenArgs& args,
                               const CompoundCall& call) {
  if (!target.file) return nfs4::Status::NFS4_OK;
  const Attributes& attributes = target.file->attributes;
  const Caller& caller = call.context.caller;
  const bool reads = (args.share_access & nfs4::OPEN4_SHARE_ACCESS_READ) != 0;
  const bool writes = (args.share_access & nfs4::OPEN4_SHARE_ACCESS_WRITE) != 0;
  // RFC 7530 13.1.4.13, RFC 8881 15.1.4.11: no caller may, so that it is no matter of permissions.
  if ((writes || target.truncates) && call.storage.read_only(target.file->node))
    return nfs4::Status::NFS4ERR_ROFS;
  // A file that the client has had open is opened again. Its owner may, whatever the mode has
  // become (as RFC 1813 4.4 has it for READ and WRITE). CLAIM_FH is not among these: clients use it
  // for open(2), and leave it to the server to judge. The same goes for an exclusive OPEN that is
  // repeated, but not for other users. Every user can see its verifier in the times of the file.
  const bool is_known = is_again(args.claim.claim) || target.same_verifier;
  if (is_known && caller.uid == attributes.uid) return nfs4::Status::NFS4_OK;
  // Programs are run by reading them.
  const bool readable = permits(attributes, caller, AccessMode::read) ||
                        permits(attributes, caller, AccessMode::execute);
  const bool denied = (reads && !readable) || ((writes || target.truncates) &&
                                               !permits(attributes, caller, AccessMode::write));
  return denied ? nfs4::Status::NFS4ERR_ACCESS : nfs4::Status::NFS4_OK;
}

nfs4::Status create_or_truncate(OpenTarget& target, CompoundCall& call) {
  if (!target.file) {
    const NewNode made = new_node(FileType::regular, target.change, call.context.caller);
    const auto node = call.storage.create(target.directory->node, target.name, made);
    if (!node) return to_nfs4(node.error());
    if (target.change.uid && !made.change.uid) target.attrset.reset(nfs4::FATTR4_OWNER);
    if (target.change.gid && !made.change.gid) target.attrset.reset(nfs4::FATTR4_OWNER_GROUP);
    set_current(call, *node);
    return nfs4::Status::NFS4_OK;
  }
  if (target.truncates) {
    const auto status = call.storage.change(target.file->node, target.change);
    if (status != peer::Status::ok) return to_nfs4(status);
  }
  set_current(call, target.file->node);
  return nfs4::Status::NFS4_OK;
}

}  // namespace steertag::peer
