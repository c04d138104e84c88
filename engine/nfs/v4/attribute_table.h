// The table of attributes: number, name, type, and who must have or asks for it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "nfs/v4/attribute_numbers.h"
#include "nfs/v4/attributes.h"
#include "support/entries.h"

namespace steertag::nfs4 {

/// What the table says about an attribute.
enum AttributeUse : std::uint32_t {
  kRead = 1,       // GETATTR and READDIR give it
  kWrite = 2,      // SETATTR, CREATE and OPEN take it
  kRequired = 4,   // REQUIRED of every server (RFC 8881 5.6)
  kLinux = 8,      // a Linux client asks for it or sets it
  kUnbounded = 16  // no protocol limit; a client cannot estimate its size (RFC 8267 6.2)
};

/// One attribute: where its value is in Attributes, and the limit that its type asks for (as
/// Field).
template <class Value>
struct Attribute {
  std::uint32_t number;
  std::string_view name;
  std::optional<Value> Attributes::*member;
  std::uint32_t use;
  std::size_t limit = 0;
};
template <class Value>
Attribute(std::uint32_t, std::string_view, std::optional<Value> Attributes::*, std::uint32_t)
    -> Attribute<Value>;
template <class Value>
Attribute(std::uint32_t, std::string_view, std::optional<Value> Attributes::*, std::uint32_t,
          std::size_t) -> Attribute<Value>;

/// The one list, in ascending order: decoding, encoding, names and bounds follow from it.
inline constexpr auto kAttributes = Entries{
    Attribute{FATTR4_SUPPORTED_ATTRS, "supported_attrs", &Attributes::supported_attrs,
              kRead | kRequired | kLinux},
    Attribute{FATTR4_TYPE, "type", &Attributes::type, kRead | kRequired | kLinux},
    Attribute{FATTR4_FH_EXPIRE_TYPE, "fh_expire_type", &Attributes::fh_expire_type,
              kRead | kRequired | kLinux},
    Attribute{FATTR4_CHANGE, "change", &Attributes::change, kRead | kRequired | kLinux},
    Attribute{FATTR4_SIZE, "size", &Attributes::size, kRead | kWrite | kRequired | kLinux},
    Attribute{FATTR4_LINK_SUPPORT, "link_support", &Attributes::link_support,
              kRead | kRequired | kLinux},
    Attribute{FATTR4_SYMLINK_SUPPORT, "symlink_support", &Attributes::symlink_support,
              kRead | kRequired | kLinux},
    Attribute{FATTR4_NAMED_ATTR, "named_attr", &Attributes::named_attr, kRead | kRequired},
    Attribute{FATTR4_FSID, "fsid", &Attributes::fsid, kRead | kRequired | kLinux},
    Attribute{FATTR4_UNIQUE_HANDLES, "unique_handles", &Attributes::unique_handles,
              kRead | kRequired},
    Attribute{FATTR4_LEASE_TIME, "lease_time", &Attributes::lease_time, kRead | kRequired | kLinux},
    Attribute{FATTR4_RDATTR_ERROR, "rdattr_error", &Attributes::rdattr_error,
              kRead | kRequired | kLinux},
    Attribute{FATTR4_ACL, "acl", &Attributes::acl, kRead | kWrite | kLinux | kUnbounded, kMostAces},
    Attribute{FATTR4_ACLSUPPORT, "aclsupport", &Attributes::aclsupport, kRead | kLinux},
    Attribute{FATTR4_ARCHIVE, "archive", &Attributes::archive, kRead | kWrite},
    Attribute{FATTR4_CANSETTIME, "cansettime", &Attributes::cansettime, kRead},
    Attribute{FATTR4_CASE_INSENSITIVE, "case_insensitive", &Attributes::case_insensitive,
              kRead | kLinux},
    Attribute{FATTR4_CASE_PRESERVING, "case_preserving", &Attributes::case_preserving,
              kRead | kLinux},
    Attribute{FATTR4_CHOWN_RESTRICTED, "chown_restricted", &Attributes::chown_restricted, kRead},
    Attribute{FATTR4_FILEHANDLE, "filehandle", &Attributes::filehandle, kRead | kRequired | kLinux},
    Attribute{FATTR4_FILEID, "fileid", &Attributes::fileid, kRead | kLinux},
    Attribute{FATTR4_FILES_AVAIL, "files_avail", &Attributes::files_avail, kRead | kLinux},
    Attribute{FATTR4_FILES_FREE, "files_free", &Attributes::files_free, kRead | kLinux},
    Attribute{FATTR4_FILES_TOTAL, "files_total", &Attributes::files_total, kRead | kLinux},
    Attribute{FATTR4_FS_LOCATIONS, "fs_locations", &Attributes::fs_locations,
              kRead | kLinux | kUnbounded},
    Attribute{FATTR4_HIDDEN, "hidden", &Attributes::hidden, kRead | kWrite},
    Attribute{FATTR4_HOMOGENEOUS, "homogeneous", &Attributes::homogeneous, kRead},
    Attribute{FATTR4_MAXFILESIZE, "maxfilesize", &Attributes::maxfilesize, kRead | kLinux},
    Attribute{FATTR4_MAXLINK, "maxlink", &Attributes::maxlink, kRead | kLinux},
    Attribute{FATTR4_MAXNAME, "maxname", &Attributes::maxname, kRead | kLinux},
    Attribute{FATTR4_MAXREAD, "maxread", &Attributes::maxread, kRead | kLinux},
    Attribute{FATTR4_MAXWRITE, "maxwrite", &Attributes::maxwrite, kRead | kLinux},
    Attribute{FATTR4_MIMETYPE, "mimetype", &Attributes::mimetype, kRead | kWrite, kMostTextOctets},
    Attribute{FATTR4_MODE, "mode", &Attributes::mode, kRead | kWrite | kLinux},
    Attribute{FATTR4_NO_TRUNC, "no_trunc", &Attributes::no_trunc, kRead},
    Attribute{FATTR4_NUMLINKS, "numlinks", &Attributes::numlinks, kRead | kLinux},
    Attribute{FATTR4_OWNER, "owner", &Attributes::owner, kRead | kWrite | kLinux, kMostOwnerOctets},
    Attribute{FATTR4_OWNER_GROUP, "owner_group", &Attributes::owner_group, kRead | kWrite | kLinux,
              kMostOwnerOctets},
    Attribute{FATTR4_QUOTA_AVAIL_HARD, "quota_avail_hard", &Attributes::quota_avail_hard, kRead},
    Attribute{FATTR4_QUOTA_AVAIL_SOFT, "quota_avail_soft", &Attributes::quota_avail_soft, kRead},
    Attribute{FATTR4_QUOTA_USED, "quota_used", &Attributes::quota_used, kRead},
    Attribute{FATTR4_RAWDEV, "rawdev", &Attributes::rawdev, kRead | kLinux},
    Attribute{FATTR4_SPACE_AVAIL, "space_avail", &Attributes::space_avail, kRead | kLinux},
    Attribute{FATTR4_SPACE_FREE, "space_free", &Attributes::space_free, kRead | kLinux},
    Attribute{FATTR4_SPACE_TOTAL, "space_total", &Attributes::space_total, kRead | kLinux},
    Attribute{FATTR4_SPACE_USED, "space_used", &Attributes::space_used, kRead | kLinux},
    Attribute{FATTR4_SYSTEM, "system", &Attributes::system, kRead | kWrite},
    Attribute{FATTR4_TIME_ACCESS, "time_access", &Attributes::time_access, kRead | kLinux},
    Attribute{FATTR4_TIME_ACCESS_SET, "time_access_set", &Attributes::time_access_set,
              kWrite | kLinux},
    Attribute{FATTR4_TIME_BACKUP, "time_backup", &Attributes::time_backup, kRead | kWrite},
    Attribute{FATTR4_TIME_CREATE, "time_create", &Attributes::time_create, kRead | kWrite | kLinux},
    Attribute{FATTR4_TIME_DELTA, "time_delta", &Attributes::time_delta, kRead | kLinux},
    Attribute{FATTR4_TIME_METADATA, "time_metadata", &Attributes::time_metadata, kRead | kLinux},
    Attribute{FATTR4_TIME_MODIFY, "time_modify", &Attributes::time_modify, kRead | kLinux},
    Attribute{FATTR4_TIME_MODIFY_SET, "time_modify_set", &Attributes::time_modify_set,
              kWrite | kLinux},
    Attribute{FATTR4_MOUNTED_ON_FILEID, "mounted_on_fileid", &Attributes::mounted_on_fileid,
              kRead | kLinux},
    Attribute{FATTR4_DIR_NOTIF_DELAY, "dir_notif_delay", &Attributes::dir_notif_delay, kRead},
    Attribute{FATTR4_DIRENT_NOTIF_DELAY, "dirent_notif_delay", &Attributes::dirent_notif_delay,
              kRead},
    Attribute{FATTR4_DACL, "dacl", &Attributes::dacl, kRead | kWrite | kLinux | kUnbounded},
    Attribute{FATTR4_SACL, "sacl", &Attributes::sacl, kRead | kWrite | kLinux | kUnbounded},
    Attribute{FATTR4_CHANGE_POLICY, "change_policy", &Attributes::change_policy, kRead},
    Attribute{FATTR4_FS_STATUS, "fs_status", &Attributes::fs_status, kRead},
    Attribute{FATTR4_FS_LAYOUT_TYPES, "fs_layout_types", &Attributes::fs_layout_types,
              kRead | kLinux | kUnbounded, kMostLayoutTypes},
    Attribute{FATTR4_LAYOUT_HINT, "layout_hint", &Attributes::layout_hint, kWrite | kUnbounded},
    Attribute{FATTR4_LAYOUT_TYPES, "layout_types", &Attributes::layout_types, kRead | kUnbounded,
              kMostLayoutTypes},
    Attribute{FATTR4_LAYOUT_BLKSIZE, "layout_blksize", &Attributes::layout_blksize, kRead | kLinux},
    Attribute{FATTR4_LAYOUT_ALIGNMENT, "layout_alignment", &Attributes::layout_alignment, kRead},
    Attribute{FATTR4_FS_LOCATIONS_INFO, "fs_locations_info", &Attributes::fs_locations_info,
              kRead | kUnbounded},
    Attribute{FATTR4_MDSTHRESHOLD, "mdsthreshold", &Attributes::mdsthreshold,
              kRead | kLinux | kUnbounded},
    Attribute{FATTR4_RETENTION_GET, "retention_get", &Attributes::retention_get, kRead},
    Attribute{FATTR4_RETENTION_SET, "retention_set", &Attributes::retention_set, kWrite},
    Attribute{FATTR4_RETENTEVT_GET, "retentevt_get", &Attributes::retentevt_get, kRead},
    Attribute{FATTR4_RETENTEVT_SET, "retentevt_set", &Attributes::retentevt_set, kWrite},
    Attribute{FATTR4_RETENTION_HOLD, "retention_hold", &Attributes::retention_hold, kRead | kWrite},
    Attribute{FATTR4_MODE_SET_MASKED, "mode_set_masked", &Attributes::mode_set_masked, kWrite},
    Attribute{FATTR4_SUPPATTR_EXCLCREAT, "suppattr_exclcreat", &Attributes::suppattr_exclcreat,
              kRead | kRequired | kLinux},
    Attribute{FATTR4_FS_CHARSET_CAP, "fs_charset_cap", &Attributes::fs_charset_cap, kRead}};

/// A row without its type.
struct AttributeRow {
  std::uint32_t number;
  std::string_view name;
  std::uint32_t use;
};
std::span<const AttributeRow> attribute_rows();

/// The RFC's name of an attribute ("mounted_on_fileid"); "" for a number that is not known.
std::string_view attribute_name(std::uint32_t number);

/// The numbers that have all of the uses, and that the minor version defines.
Bitmap attributes_with(std::uint32_t uses, std::uint32_t minorversion);

}  // namespace steertag::nfs4
