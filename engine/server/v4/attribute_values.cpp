// The attributes of an object as fattr4 has them.
#include "server/v4/attribute_values.h"

#include "endpoint/limits.h"
#include "nfs/v4/attribute_numbers.h"
#include "server/storage/entry_name.h"
#include "server/storage/memory_backend.h"
#include "server/v4/attribute_change.h"
#include "server/v4/state/nfs4_state.h"

namespace steertag::peer {
namespace {

// fh_expire_type (RFC 8881 4.2.3): filehandles live as long as their objects.
constexpr std::uint32_t FH4_PERSISTENT = 0;
// fs_charset_cap (RFC 8881 14.4): names need not be UTF-8, and check_component says why.
constexpr std::uint32_t FSCHARSET_CAP4_CONTAINS_NON_UTF8 = 1;

nfs4::Bitmap all_supported() {
  using namespace nfs4;
  return Bitmap::of({FATTR4_SUPPORTED_ATTRS,
                     FATTR4_TYPE,
                     FATTR4_FH_EXPIRE_TYPE,
                     FATTR4_CHANGE,
                     FATTR4_SIZE,
                     FATTR4_LINK_SUPPORT,
                     FATTR4_SYMLINK_SUPPORT,
                     FATTR4_NAMED_ATTR,
                     FATTR4_FSID,
                     FATTR4_UNIQUE_HANDLES,
                     FATTR4_LEASE_TIME,
                     FATTR4_RDATTR_ERROR,
                     FATTR4_ACLSUPPORT,
                     FATTR4_CANSETTIME,
                     FATTR4_CASE_INSENSITIVE,
                     FATTR4_CASE_PRESERVING,
                     FATTR4_CHOWN_RESTRICTED,
                     FATTR4_FILEHANDLE,
                     FATTR4_FILEID,
                     FATTR4_FILES_AVAIL,
                     FATTR4_FILES_FREE,
                     FATTR4_FILES_TOTAL,
                     FATTR4_HOMOGENEOUS,
                     FATTR4_MAXFILESIZE,
                     FATTR4_MAXLINK,
                     FATTR4_MAXNAME,
                     FATTR4_MAXREAD,
                     FATTR4_MAXWRITE,
                     FATTR4_MODE,
                     FATTR4_NO_TRUNC,
                     FATTR4_NUMLINKS,
                     FATTR4_OWNER,
                     FATTR4_OWNER_GROUP,
                     FATTR4_RAWDEV,
                     FATTR4_SPACE_AVAIL,
                     FATTR4_SPACE_FREE,
                     FATTR4_SPACE_TOTAL,
                     FATTR4_SPACE_USED,
                     FATTR4_TIME_ACCESS,
                     FATTR4_TIME_ACCESS_SET,
                     FATTR4_TIME_DELTA,
                     FATTR4_TIME_METADATA,
                     FATTR4_TIME_MODIFY,
                     FATTR4_TIME_MODIFY_SET,
                     FATTR4_MOUNTED_ON_FILEID,
                     FATTR4_SUPPATTR_EXCLCREAT,
                     FATTR4_FS_CHARSET_CAP});
}

nfs4::Time to_nfs4(const Time& time) {
  return {time.seconds, time.nanoseconds};
}

/// What every object has alike.
void describe_server(nfs4::Attributes& to, const CompoundCall& call) {
  to.supported_attrs = supported_attributes(call);
  to.fh_expire_type = FH4_PERSISTENT;
  to.link_support = true;
  to.symlink_support = true;
  to.named_attr = false;
  to.unique_handles = true;
  to.lease_time = static_cast<std::uint32_t>(call.state.lease().count());
  to.rdattr_error = nfs4::Status::NFS4_OK;
  to.aclsupport = 0;
  to.cansettime = true;
  to.case_insensitive = false;
  to.case_preserving = true;
  to.chown_restricted = true;
  to.homogeneous = true;
  to.maxlink = kMostLinks;
  to.maxname = static_cast<std::uint32_t>(kLongestName);
  to.maxread = to.maxwrite = call.storage.largest_transfer_bytes();
  to.no_trunc = true;
  to.time_delta = nfs4::Time{0, 1};
  if (call.minorversion > 0) {
    to.suppattr_exclcreat = exclusive_attributes();
    to.fs_charset_cap = FSCHARSET_CAP4_CONTAINS_NON_UTF8;
  }
}

}  // namespace

nfs4::Bitmap supported_attributes(const CompoundCall& call) {
  nfs4::Bitmap supported = all_supported();
  if (call.minorversion == 0) {
    supported.reset(nfs4::FATTR4_SUPPATTR_EXCLCREAT);
    supported.reset(nfs4::FATTR4_FS_CHARSET_CAP);
  } else if (call.pnfs.is_metadata_server()) {
    supported =
        supported | nfs4::Bitmap::of({nfs4::FATTR4_FS_LAYOUT_TYPES, nfs4::FATTR4_LAYOUT_TYPES,
                                      nfs4::FATTR4_LAYOUT_BLKSIZE});
  }
  supported.trim();
  return supported;
}

nfs4::Bitmap settable_attributes() {
  using namespace nfs4;
  return Bitmap::of({FATTR4_SIZE, FATTR4_MODE, FATTR4_OWNER, FATTR4_OWNER_GROUP,
                     FATTR4_TIME_ACCESS_SET, FATTR4_TIME_MODIFY_SET});
}

nfs4::Bitmap exclusive_attributes() {
  using namespace nfs4;
  return Bitmap::of({FATTR4_MODE, FATTR4_OWNER, FATTR4_OWNER_GROUP});
}

AttributeValues::AttributeValues(const CompoundCall& call, const nfs4::Bitmap& wanted)
    : call_(call), wanted_(wanted & supported_attributes(call)) {
  describe_server(values_, call);
  describe_file_system();
}

void AttributeValues::describe_file_system() {
  using namespace nfs4;
  values_.maxfilesize = call_.storage.largest_file_bytes();
  const Bitmap usage = Bitmap::of({FATTR4_FILES_AVAIL, FATTR4_FILES_FREE, FATTR4_FILES_TOTAL,
                                   FATTR4_SPACE_AVAIL, FATTR4_SPACE_FREE, FATTR4_SPACE_TOTAL});
  if ((wanted_ & usage).none()) return;
  const SpaceUsage space = call_.storage.space();
  values_.files_avail = values_.files_free = space.free_files;
  values_.files_total = space.total_files;
  values_.space_avail = values_.space_free = space.free_bytes;
  values_.space_total = space.total_bytes;
}

void AttributeValues::describe_layouts(const Object& object) {
  // RFC 8881 5.12: the export has layouts, the pseudo file system has none; a file has some.
  const std::vector<nfs4::LayoutType> files{nfs4::LayoutType::LAYOUT4_NFSV4_1_FILES};
  const bool exported = object.node != call_.storage.root();
  const bool regular = object.attributes.type == FileType::regular;
  values_.fs_layout_types = exported ? files : std::vector<nfs4::LayoutType>{};
  values_.layout_types = regular ? files : std::vector<nfs4::LayoutType>{};
  values_.layout_blksize = call_.pnfs.data_servers->pattern().unit_bytes;
}

const nfs4::Attributes& AttributeValues::of(const Object& object) {
  const Attributes& from = object.attributes;
  values_.type = static_cast<nfs4::FileType>(from.type);  // the same numbers, see FileType
  values_.change = from.change;
  values_.size = from.size_bytes;
  values_.fsid = nfs4::Fsid{from.filesystem_id, 0};
  const Handle handle = call_.storage.handle(object.node);
  values_.filehandle = nfs4::FileHandle(View(handle));
  values_.fileid = from.file_id;
  values_.mode = from.mode;
  values_.numlinks = from.link_count;
  owner_ = owner_text(from.uid);
  owner_group_ = owner_text(from.gid);
  values_.owner = owner_;
  values_.owner_group = owner_group_;
  values_.rawdev = nfs4::SpecData{from.device.major, from.device.minor};
  values_.space_used = from.used_bytes;
  values_.time_access = to_nfs4(from.atime);
  values_.time_metadata = to_nfs4(from.ctime);
  values_.time_modify = to_nfs4(from.mtime);
  values_.mounted_on_fileid = call_.storage.mounted_on(object.node, from);
  if (call_.pnfs.is_metadata_server()) describe_layouts(object);
  return values_;
}

}  // namespace steertag::peer
