// The numbers of the attributes of minor versions 0 and 1 (RFC 8881 5.6, 5.7).
#pragma once

#include <cstdint>

namespace steertag::nfs4 {

inline constexpr std::uint32_t FATTR4_SUPPORTED_ATTRS = 0;
inline constexpr std::uint32_t FATTR4_TYPE = 1;
inline constexpr std::uint32_t FATTR4_FH_EXPIRE_TYPE = 2;
inline constexpr std::uint32_t FATTR4_CHANGE = 3;
inline constexpr std::uint32_t FATTR4_SIZE = 4;
inline constexpr std::uint32_t FATTR4_LINK_SUPPORT = 5;
inline constexpr std::uint32_t FATTR4_SYMLINK_SUPPORT = 6;
inline constexpr std::uint32_t FATTR4_NAMED_ATTR = 7;
inline constexpr std::uint32_t FATTR4_FSID = 8;
inline constexpr std::uint32_t FATTR4_UNIQUE_HANDLES = 9;
inline constexpr std::uint32_t FATTR4_LEASE_TIME = 10;
inline constexpr std::uint32_t FATTR4_RDATTR_ERROR = 11;
inline constexpr std::uint32_t FATTR4_ACL = 12;
inline constexpr std::uint32_t FATTR4_ACLSUPPORT = 13;
inline constexpr std::uint32_t FATTR4_ARCHIVE = 14;
inline constexpr std::uint32_t FATTR4_CANSETTIME = 15;
inline constexpr std::uint32_t FATTR4_CASE_INSENSITIVE = 16;
inline constexpr std::uint32_t FATTR4_CASE_PRESERVING = 17;
inline constexpr std::uint32_t FATTR4_CHOWN_RESTRICTED = 18;
inline constexpr std::uint32_t FATTR4_FILEHANDLE = 19;
inline constexpr std::uint32_t FATTR4_FILEID = 20;
inline constexpr std::uint32_t FATTR4_FILES_AVAIL = 21;
inline constexpr std::uint32_t FATTR4_FILES_FREE = 22;
inline constexpr std::uint32_t FATTR4_FILES_TOTAL = 23;
inline constexpr std::uint32_t FATTR4_FS_LOCATIONS = 24;
inline constexpr std::uint32_t FATTR4_HIDDEN = 25;
inline constexpr std::uint32_t FATTR4_HOMOGENEOUS = 26;
inline constexpr std::uint32_t FATTR4_MAXFILESIZE = 27;
inline constexpr std::uint32_t FATTR4_MAXLINK = 28;
inline constexpr std::uint32_t FATTR4_MAXNAME = 29;
inline constexpr std::uint32_t FATTR4_MAXREAD = 30;
inline constexpr std::uint32_t FATTR4_MAXWRITE = 31;
inline constexpr std::uint32_t FATTR4_MIMETYPE = 32;
inline constexpr std::uint32_t FATTR4_MODE = 33;
inline constexpr std::uint32_t FATTR4_NO_TRUNC = 34;
inline constexpr std::uint32_t FATTR4_NUMLINKS = 35;
inline constexpr std::uint32_t FATTR4_OWNER = 36;
inline constexpr std::uint32_t FATTR4_OWNER_GROUP = 37;
inline constexpr std::uint32_t FATTR4_QUOTA_AVAIL_HARD = 38;
inline constexpr std::uint32_t FATTR4_QUOTA_AVAIL_SOFT = 39;
inline constexpr std::uint32_t FATTR4_QUOTA_USED = 40;
inline constexpr std::uint32_t FATTR4_RAWDEV = 41;
inline constexpr std::uint32_t FATTR4_SPACE_AVAIL = 42;
inline constexpr std::uint32_t FATTR4_SPACE_FREE = 43;
inline constexpr std::uint32_t FATTR4_SPACE_TOTAL = 44;
inline constexpr std::uint32_t FATTR4_SPACE_USED = 45;
inline constexpr std::uint32_t FATTR4_SYSTEM = 46;
inline constexpr std::uint32_t FATTR4_TIME_ACCESS = 47;
inline constexpr std::uint32_t FATTR4_TIME_ACCESS_SET = 48;
inline constexpr std::uint32_t FATTR4_TIME_BACKUP = 49;
inline constexpr std::uint32_t FATTR4_TIME_CREATE = 50;
inline constexpr std::uint32_t FATTR4_TIME_DELTA = 51;
inline constexpr std::uint32_t FATTR4_TIME_METADATA = 52;
inline constexpr std::uint32_t FATTR4_TIME_MODIFY = 53;
inline constexpr std::uint32_t FATTR4_TIME_MODIFY_SET = 54;
inline constexpr std::uint32_t FATTR4_MOUNTED_ON_FILEID = 55;
inline constexpr std::uint32_t FATTR4_DIR_NOTIF_DELAY = 56;
inline constexpr std::uint32_t FATTR4_DIRENT_NOTIF_DELAY = 57;
inline constexpr std::uint32_t FATTR4_DACL = 58;
inline constexpr std::uint32_t FATTR4_SACL = 59;
inline constexpr std::uint32_t FATTR4_CHANGE_POLICY = 60;
inline constexpr std::uint32_t FATTR4_FS_STATUS = 61;
inline constexpr std::uint32_t FATTR4_FS_LAYOUT_TYPES = 62;
inline constexpr std::uint32_t FATTR4_LAYOUT_HINT = 63;
inline constexpr std::uint32_t FATTR4_LAYOUT_TYPES = 64;
inline constexpr std::uint32_t FATTR4_LAYOUT_BLKSIZE = 65;
inline constexpr std::uint32_t FATTR4_LAYOUT_ALIGNMENT = 66;
inline constexpr std::uint32_t FATTR4_FS_LOCATIONS_INFO = 67;
inline constexpr std::uint32_t FATTR4_MDSTHRESHOLD = 68;
inline constexpr std::uint32_t FATTR4_RETENTION_GET = 69;
inline constexpr std::uint32_t FATTR4_RETENTION_SET = 70;
inline constexpr std::uint32_t FATTR4_RETENTEVT_GET = 71;
inline constexpr std::uint32_t FATTR4_RETENTEVT_SET = 72;
inline constexpr std::uint32_t FATTR4_RETENTION_HOLD = 73;
inline constexpr std::uint32_t FATTR4_MODE_SET_MASKED = 74;
inline constexpr std::uint32_t FATTR4_SUPPATTR_EXCLCREAT = 75;
inline constexpr std::uint32_t FATTR4_FS_CHARSET_CAP = 76;

/// Attributes below this number are known; those of minor version 0 end before the second.
inline constexpr std::uint32_t kKnownAttributes = 77;
inline constexpr std::uint32_t kKnownAttributesMinor0 = 56;

}  // namespace steertag::nfs4
