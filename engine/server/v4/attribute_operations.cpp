// ACCESS, GETATTR, SETATTR, VERIFY, NVERIFY.
#include <algorithm>

#include "nfs/v4/attribute_codec.h"
#include "server/storage/permission.h"
#include "server/v4/attribute_change.h"
#include "server/v4/attribute_values.h"
#include "server/v4/file_operations.h"
#include "server/v4/state/byte_ranges.h"
#include "server/v4/state/nfs4_state.h"
#include "server/v4/status_map.h"

namespace steertag::peer {
namespace {

/// Attributes that can be set and not read.
nfs4::Bitmap write_only() {
  return nfs4::Bitmap::of({nfs4::FATTR4_TIME_ACCESS_SET, nfs4::FATTR4_TIME_MODIFY_SET});
}

std::uint32_t granted_access(const Attributes& attributes, const Caller& caller, bool read_only) {
  const bool is_directory = attributes.type == FileType::directory;
  std::uint32_t granted = 0;
  if (permits(attributes, caller, AccessMode::read)) granted |= nfs4::ACCESS4_READ;
  if (!read_only && permits(attributes, caller, AccessMode::write)) {
    granted |= nfs4::ACCESS4_MODIFY | nfs4::ACCESS4_EXTEND;
    if (is_directory) granted |= nfs4::ACCESS4_DELETE;
  }
  if (permits(attributes, caller, AccessMode::execute))
    granted |= is_directory ? nfs4::ACCESS4_LOOKUP : nfs4::ACCESS4_EXECUTE;
  return granted;
}

/// The bits that can be judged for this type.
std::uint32_t judged_access(const Attributes& attributes) {
  const std::uint32_t all = nfs4::ACCESS4_READ | nfs4::ACCESS4_MODIFY | nfs4::ACCESS4_EXTEND;
  if (attributes.type == FileType::directory)
    return all | nfs4::ACCESS4_LOOKUP | nfs4::ACCESS4_DELETE;
  return all | nfs4::ACCESS4_EXECUTE;
}

nfs4::Status check_change(const nfs4::SetattrArgs& args, const AttributeChange& change,
                          const Object& object, CompoundCall& call) {
  const nfs4::Status permitted =
      to_nfs4(permits_change(object.attributes, call.context.caller, change));
  if (permitted != nfs4::Status::NFS4_OK) return permitted;
  const Handle& file = call.current->handle;
  if (!change.size_bytes) {
    if (object.attributes.type != FileType::regular) return nfs4::Status::NFS4_OK;
    // RFC 8881 10.4.4: a reader that has the file delegated relies on its attributes; owner and
    // mode decide besides who may reclaim an open.
    return call.state.check_change(file, call.clientid);
  }
  if (object.attributes.type != FileType::regular) {
    // RFC 7530 13.2 and RFC 8881 15.2: only the former has NFS4ERR_ISDIR for SETATTR.
    const bool is_directory = object.attributes.type == FileType::directory;
    return is_directory && call.minorversion == 0 ? nfs4::Status::NFS4ERR_ISDIR
                                                  : nfs4::Status::NFS4ERR_INVAL;
  }
  const auto stateid = effective_stateid(call, args.stateid);
  if (!stateid) return stateid.error();
  const auto [smaller, larger] = std::minmax(*change.size_bytes, object.attributes.size_bytes);
  const nfs4::Status status =
      call.state.check_io(call.minorversion, call.clientid, *stateid, file, AccessMode::write,
                          byte_range(smaller, larger - smaller));
  if (status != nfs4::Status::NFS4_OK) return status;
  const bool truncates = *change.size_bytes < object.attributes.size_bytes;
  return truncates && call.state.recall_layouts(file, call.clientid) ? nfs4::Status::NFS4ERR_DELAY
                                                                     : nfs4::Status::NFS4_OK;
}

/// Whether the object's attributes have the values of `given`. The status is none of NFS4_OK,
/// NFS4ERR_SAME and NFS4ERR_NOT_SAME when that cannot be told.
Expected<bool, nfs4::Status> compare(const nfs4::Fattr& given, CompoundCall& call) {
  const auto object = current_object(call);
  if (!object) return tl::unexpected(object.error());
  const nfs4::Bitmap supported = supported_attributes(call);
  if (!given.attrmask.without(supported).none())
    return tl::unexpected(nfs4::Status::NFS4ERR_ATTRNOTSUPP);
  // RFC 8881 18.15.4, 18.31.4.
  const nfs4::Bitmap refused = write_only() | nfs4::Bitmap::of({nfs4::FATTR4_RDATTR_ERROR});
  if (!(given.attrmask & refused).none()) return tl::unexpected(nfs4::Status::NFS4ERR_INVAL);
  if (!nfs4::decode_attributes(given)) return tl::unexpected(nfs4::Status::NFS4ERR_BADXDR);
  AttributeValues values(call, given.attrmask);
  // XDR has one encoding for each value.
  const nfs4::Fattr ours = nfs4::fattr_of(values.of(*object), given.attrmask, call.scratch);
  return std::ranges::equal(ours.attr_vals, given.attr_vals);
}

}  // namespace

void op_access(const nfs4::AccessArgs& args, CompoundCall& call, nfs4::AccessResult& result) {
  const auto object = current_object(call);
  if (!object) {
    result.status = object.error();
    return;
  }
  result.resok4.supported = args.access & judged_access(object->attributes);
  result.resok4.access =
      result.resok4.supported &
      granted_access(object->attributes, call.context.caller, call.storage.read_only(object->node));
}

void op_getattr(const nfs4::GetattrArgs& args, CompoundCall& call, nfs4::GetattrResult& result) {
  const auto object = current_object(call);
  if (!object) {
    result.status = object.error();
    return;
  }
  // RFC 8881 5.5.
  if (!(args.attr_request & write_only()).none()) {
    result.status = nfs4::Status::NFS4ERR_INVAL;
    return;
  }
  AttributeValues values(call, args.attr_request);
  result.resok4.obj_attributes =
      nfs4::fattr_of(values.of(*object), args.attr_request, call.scratch);
}

void op_setattr(const nfs4::SetattrArgs& args, CompoundCall& call, nfs4::SetattrResult& result) {
  const auto object = current_object(call);
  if (!object) {
    result.status = object.error();
    return;
  }
  // Of nothing there is no right to ask for, so that nothing may come of it: no new time, no
  // recall.
  if (args.obj_attributes.attrmask.none()) return;
  if (call.storage.read_only(object->node)) {
    result.status = nfs4::Status::NFS4ERR_ROFS;
    return;
  }
  auto change = requested_change(args.obj_attributes, call);
  result.status = change ? check_change(args, *change, *object, call) : change.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  change->mode = permitted_mode(object->attributes, call.context.caller, *change,
                                call.storage.superuser_owns_all());
  result.status = to_nfs4(call.storage.change(object->node, *change));
  if (result.status != nfs4::Status::NFS4_OK) return;
  result.attrsset = args.obj_attributes.attrmask;
  result.attrsset.trim();
}

void op_verify(const nfs4::VerifyArgs& args, CompoundCall& call, nfs4::VerifyResult& result) {
  const auto same = compare(args.obj_attributes, call);
  result.status = same ? nfs4::Status::NFS4ERR_NOT_SAME : same.error();
  if (same && *same) result.status = nfs4::Status::NFS4_OK;
}

void op_nverify(const nfs4::NverifyArgs& args, CompoundCall& call, nfs4::NverifyResult& result) {
  const auto same = compare(args.obj_attributes, call);
  result.status = same ? nfs4::Status::NFS4_OK : same.error();
  if (same && *same) result.status = nfs4::Status::NFS4ERR_SAME;
}

}  // namespace steertag::peer
