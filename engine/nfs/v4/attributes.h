// The attributes of a file system object with their types: what the values of fattr4 mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "nfs/v4/attribute_types.h"
#include "nfs/v4/types.h"

namespace steertag::nfs4 {

/// Every attribute of minor versions 0 and 1 under its RFC name, in the order of the numbers; what
/// is not set is absent. Text, opaque data and names point into the message or into the sender's
/// memory.
struct Attributes {
  std::optional<Bitmap> supported_attrs{};
  std::optional<FileType> type{};
  std::optional<std::uint32_t> fh_expire_type{};
  std::optional<std::uint64_t> change{};
  std::optional<std::uint64_t> size{};
  std::optional<bool> link_support{};
  std::optional<bool> symlink_support{};
  std::optional<bool> named_attr{};
  std::optional<Fsid> fsid{};
  std::optional<bool> unique_handles{};
  std::optional<std::uint32_t> lease_time{};
  std::optional<Status> rdattr_error{};
  std::optional<std::vector<Ace>> acl{};
  std::optional<std::uint32_t> aclsupport{};
  std::optional<bool> archive{};
  std::optional<bool> cansettime{};
  std::optional<bool> case_insensitive{};
  std::optional<bool> case_preserving{};
  std::optional<bool> chown_restricted{};
  std::optional<FileHandle> filehandle{};
  std::optional<std::uint64_t> fileid{};
  std::optional<std::uint64_t> files_avail{};
  std::optional<std::uint64_t> files_free{};
  std::optional<std::uint64_t> files_total{};
  std::optional<FsLocations> fs_locations{};
  std::optional<bool> hidden{};
  std::optional<bool> homogeneous{};
  std::optional<std::uint64_t> maxfilesize{};
  std::optional<std::uint32_t> maxlink{};
  std::optional<std::uint32_t> maxname{};
  std::optional<std::uint64_t> maxread{};
  std::optional<std::uint64_t> maxwrite{};
  std::optional<std::string_view> mimetype{};
  std::optional<std::uint32_t> mode{};
  std::optional<bool> no_trunc{};
  std::optional<std::uint32_t> numlinks{};
  std::optional<std::string_view> owner{};
  std::optional<std::string_view> owner_group{};
  std::optional<std::uint64_t> quota_avail_hard{};
  std::optional<std::uint64_t> quota_avail_soft{};
  std::optional<std::uint64_t> quota_used{};
  std::optional<SpecData> rawdev{};
  std::optional<std::uint64_t> space_avail{};
  std::optional<std::uint64_t> space_free{};
  std::optional<std::uint64_t> space_total{};
  std::optional<std::uint64_t> space_used{};
  std::optional<bool> system{};
  std::optional<Time> time_access{};
  std::optional<SetTime> time_access_set{};
  std::optional<Time> time_backup{};
  std::optional<Time> time_create{};
  std::optional<Time> time_delta{};
  std::optional<Time> time_metadata{};
  std::optional<Time> time_modify{};
  std::optional<SetTime> time_modify_set{};
  std::optional<std::uint64_t> mounted_on_fileid{};
  std::optional<Time> dir_notif_delay{};
  std::optional<Time> dirent_notif_delay{};
  std::optional<Acl> dacl{};
  std::optional<Acl> sacl{};
  std::optional<ChangePolicy> change_policy{};
  std::optional<FsStatus> fs_status{};
  std::optional<std::vector<LayoutType>> fs_layout_types{};
  std::optional<LayoutHint> layout_hint{};
  std::optional<std::vector<LayoutType>> layout_types{};
  std::optional<std::uint32_t> layout_blksize{};
  std::optional<std::uint32_t> layout_alignment{};
  std::optional<FsLocationsInfo> fs_locations_info{};
  std::optional<MdsThreshold> mdsthreshold{};
  std::optional<RetentionGet> retention_get{};
  std::optional<RetentionSet> retention_set{};
  std::optional<RetentionGet> retentevt_get{};
  std::optional<RetentionSet> retentevt_set{};
  std::optional<std::uint64_t> retention_hold{};
  std::optional<ModeMasked> mode_set_masked{};
  std::optional<Bitmap> suppattr_exclcreat{};
  std::optional<std::uint32_t> fs_charset_cap{};
};

}  // namespace steertag::nfs4
