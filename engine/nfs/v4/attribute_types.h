// The types of attributes that no operation uses: locations, layouts, retention.
// RFC 8881 5, 11, 12.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "nfs/v4/types.h"

namespace steertag::nfs4 {

/// mode_masked4
struct ModeMasked {
  std::uint32_t mm_value_to_set = 0;
  std::uint32_t mm_mask_bits = 0;

  bool operator==(const ModeMasked&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"mm_value_to_set", &ModeMasked::mm_value_to_set},
                                          Field{"mm_mask_bits", &ModeMasked::mm_mask_bits}};
};

/// change_policy4
struct ChangePolicy {
  std::uint64_t cp_major = 0;
  std::uint64_t cp_minor = 0;

  bool operator==(const ChangePolicy&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"cp_major", &ChangePolicy::cp_major},
                                          Field{"cp_minor", &ChangePolicy::cp_minor}};
};

/// utf8str_cis, as an element of `server`.
struct ServerName {
  std::string_view server{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"server", &ServerName::server, kMostTextOctets}};
};

/// fs_location4
struct FsLocation {
  std::vector<ServerName> server{};
  PathName rootpath{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"server", &FsLocation::server, kMostLocations},
              Field{"rootpath", &FsLocation::rootpath, kMostComponents}};
};

/// fs_locations4
struct FsLocations {
  PathName fs_root{};
  std::vector<FsLocation> locations{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"fs_root", &FsLocations::fs_root, kMostComponents},
              Field{"locations", &FsLocations::locations, kMostLocations}};
};

/// fs_locations_server4
struct FsLocationsServer {
  std::int32_t fls_currency = 0;
  View fls_info{};
  std::string_view fls_server{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"fls_currency", &FsLocationsServer::fls_currency},
              Field{"fls_info", &FsLocationsServer::fls_info, kMostTextOctets},
              Field{"fls_server", &FsLocationsServer::fls_server, kMostTextOctets}};
};

/// fs_locations_item4
struct FsLocationsItem {
  std::vector<FsLocationsServer> fli_entries{};
  PathName fli_rootpath{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"fli_entries", &FsLocationsItem::fli_entries, kMostLocations},
              Field{"fli_rootpath", &FsLocationsItem::fli_rootpath, kMostComponents}};
};

/// fs_locations_info4
struct FsLocationsInfo {
  std::uint32_t fli_flags = 0;
  std::int32_t fli_valid_for = 0;
  PathName fli_fs_root{};
  std::vector<FsLocationsItem> fli_items{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"fli_flags", &FsLocationsInfo::fli_flags},
              Field{"fli_valid_for", &FsLocationsInfo::fli_valid_for},
              Field{"fli_fs_root", &FsLocationsInfo::fli_fs_root, kMostComponents},
              Field{"fli_items", &FsLocationsInfo::fli_items, kMostLocations}};
};

/// fs4_status
struct FsStatus {
  bool fss_absent = false;
  FsStatusType fss_type = FsStatusType::STATUS4_FIXED;
  std::string_view fss_source{};
  std::string_view fss_current{};
  std::int32_t fss_age = 0;
  Time fss_version{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"fss_absent", &FsStatus::fss_absent},
              Field{"fss_type", &FsStatus::fss_type},
              Field{"fss_source", &FsStatus::fss_source, kMostTextOctets},
              Field{"fss_current", &FsStatus::fss_current, kMostTextOctets},
              Field{"fss_age", &FsStatus::fss_age},
              Field{"fss_version", &FsStatus::fss_version}};
};

/// layouthint4
struct LayoutHint {
  LayoutType loh_type = LayoutType::LAYOUT4_NFSV4_1_FILES;
  View loh_body{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"loh_type", &LayoutHint::loh_type},
              Field{"loh_body", &LayoutHint::loh_body, kMostLayoutOctets}};
};

/// threshold_item4
struct ThresholdItem {
  LayoutType thi_layout_type = LayoutType::LAYOUT4_NFSV4_1_FILES;
  Bitmap thi_hintset{};
  View thi_hintlist{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"thi_layout_type", &ThresholdItem::thi_layout_type},
              Field{"thi_hintset", &ThresholdItem::thi_hintset},
              Field{"thi_hintlist", &ThresholdItem::thi_hintlist, kMostTextOctets}};
};

/// mdsthreshold4
struct MdsThreshold {
  std::vector<ThresholdItem> mth_hints{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"mth_hints", &MdsThreshold::mth_hints, kMostLayoutTypes}};
};

/// retention_get4
struct RetentionGet {
  std::uint64_t rg_duration = 0;
  BoundedArray<Time, 1> rg_begin_time{};

  bool operator==(const RetentionGet&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"rg_duration", &RetentionGet::rg_duration},
                                          Field{"rg_begin_time", &RetentionGet::rg_begin_time}};
};

/// retention_set4
struct RetentionSet {
  bool rs_enable = false;
  BoundedArray<std::uint64_t, 1> rs_duration{};

  bool operator==(const RetentionSet&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"rs_enable", &RetentionSet::rs_enable},
                                          Field{"rs_duration", &RetentionSet::rs_duration}};
};

}  // namespace steertag::nfs4
