// Operations of parallel NFS: LAYOUTGET, LAYOUTCOMMIT, LAYOUTRETURN, GETDEVICEINFO, GETDEVICELIST.
// The bodies that belong to a layout type stay opaque.
#pragma once

#include <cstdint>
#include <vector>

#include "nfs/v4/result.h"
#include "nfs/v4/types.h"

namespace steertag::nfs4 {

/// layout_content4
struct LayoutContent {
  LayoutType loc_type = LayoutType::LAYOUT4_NFSV4_1_FILES;
  View loc_body{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"loc_type", &LayoutContent::loc_type},
              Field{"loc_body", &LayoutContent::loc_body, kMostLayoutOctets}};
};

/// layout4
struct Layout {
  std::uint64_t lo_offset = 0;
  std::uint64_t lo_length = 0;
  LayoutIomode lo_iomode = LayoutIomode::LAYOUTIOMODE4_READ;
  LayoutContent lo_content{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"lo_offset", &Layout::lo_offset}, Field{"lo_length", &Layout::lo_length},
              Field{"lo_iomode", &Layout::lo_iomode}, Field{"lo_content", &Layout::lo_content}};
};

/// device_addr4
struct DeviceAddr {
  LayoutType da_layout_type = LayoutType::LAYOUT4_NFSV4_1_FILES;
  View da_addr_body{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"da_layout_type", &DeviceAddr::da_layout_type},
              Field{"da_addr_body", &DeviceAddr::da_addr_body, kMostLayoutOctets}};
};

/// layoutupdate4
struct LayoutUpdate {
  LayoutType lou_type = LayoutType::LAYOUT4_NFSV4_1_FILES;
  View lou_body{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"lou_type", &LayoutUpdate::lou_type},
              Field{"lou_body", &LayoutUpdate::lou_body, kMostLayoutOctets}};
};

/// GETDEVICEINFO4args
struct GetdeviceinfoArgs {
  DeviceId gdia_device_id{};
  LayoutType gdia_layout_type = LayoutType::LAYOUT4_NFSV4_1_FILES;
  std::uint32_t gdia_maxcount = 0;
  Bitmap gdia_notify_types{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"gdia_device_id", &GetdeviceinfoArgs::gdia_device_id},
              Field{"gdia_layout_type", &GetdeviceinfoArgs::gdia_layout_type},
              Field{"gdia_maxcount", &GetdeviceinfoArgs::gdia_maxcount},
              Field{"gdia_notify_types", &GetdeviceinfoArgs::gdia_notify_types}};
};

/// GETDEVICEINFO4resok
struct GetdeviceinfoOk {
  DeviceAddr gdir_device_addr{};
  Bitmap gdir_notification{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"gdir_device_addr", &GetdeviceinfoOk::gdir_device_addr},
              Field{"gdir_notification", &GetdeviceinfoOk::gdir_notification}};
};

/// GETDEVICEINFO4res
struct GetdeviceinfoResult {
  Status status = Status::NFS4_OK;
  GetdeviceinfoOk resok4{};
  std::uint32_t gdir_mincount = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"status", &GetdeviceinfoResult::status},
              arm<Status::NFS4_OK>("resok4", &GetdeviceinfoResult::resok4),
              arm<Status::NFS4ERR_TOOSMALL>("gdir_mincount", &GetdeviceinfoResult::gdir_mincount)};
};

/// GETDEVICELIST4args
struct GetdevicelistArgs {
  LayoutType gdla_layout_type = LayoutType::LAYOUT4_NFSV4_1_FILES;
  std::uint32_t gdla_maxdevices = 0;
  std::uint64_t gdla_cookie = 0;
  Verifier gdla_cookieverf{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"gdla_layout_type", &GetdevicelistArgs::gdla_layout_type},
              Field{"gdla_maxdevices", &GetdevicelistArgs::gdla_maxdevices},
              Field{"gdla_cookie", &GetdevicelistArgs::gdla_cookie},
              Field{"gdla_cookieverf", &GetdevicelistArgs::gdla_cookieverf}};
};

/// GETDEVICELIST4resok
struct GetdevicelistOk {
  std::uint64_t gdlr_cookie = 0;
  Verifier gdlr_cookieverf{};
  std::vector<DeviceId> gdlr_deviceid_list{};
  bool gdlr_eof = false;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"gdlr_cookie", &GetdevicelistOk::gdlr_cookie},
              Field{"gdlr_cookieverf", &GetdevicelistOk::gdlr_cookieverf},
              Field{"gdlr_deviceid_list", &GetdevicelistOk::gdlr_deviceid_list, kMostDevices},
              Field{"gdlr_eof", &GetdevicelistOk::gdlr_eof}};
};

/// newtime4
struct NewTime {
  bool nt_timechanged = false;
  Time nt_time{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"nt_timechanged", &NewTime::nt_timechanged},
                                          arm<true>("nt_time", &NewTime::nt_time)};
};

/// newoffset4
struct NewOffset {
  bool no_newoffset = false;
  std::uint64_t no_offset = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"no_newoffset", &NewOffset::no_newoffset},
                                          arm<true>("no_offset", &NewOffset::no_offset)};
};

/// newsize4
struct NewSize {
  bool ns_sizechanged = false;
  std::uint64_t ns_size = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"ns_sizechanged", &NewSize::ns_sizechanged},
                                          arm<true>("ns_size", &NewSize::ns_size)};
};

/// LAYOUTCOMMIT4args
struct LayoutcommitArgs {
  std::uint64_t loca_offset = 0;
  std::uint64_t loca_length = 0;
  bool loca_reclaim = false;
  StateId loca_stateid{};
  NewOffset loca_last_write_offset{};
  NewTime loca_time_modify{};
  LayoutUpdate loca_layoutupdate{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"loca_offset", &LayoutcommitArgs::loca_offset},
              Field{"loca_length", &LayoutcommitArgs::loca_length},
              Field{"loca_reclaim", &LayoutcommitArgs::loca_reclaim},
              Field{"loca_stateid", &LayoutcommitArgs::loca_stateid},
              Field{"loca_last_write_offset", &LayoutcommitArgs::loca_last_write_offset},
              Field{"loca_time_modify", &LayoutcommitArgs::loca_time_modify},
              Field{"loca_layoutupdate", &LayoutcommitArgs::loca_layoutupdate}};
};

/// LAYOUTCOMMIT4resok
struct LayoutcommitOk {
  NewSize locr_newsize{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"locr_newsize", &LayoutcommitOk::locr_newsize}};
};

/// LAYOUTGET4args
struct LayoutgetArgs {
  bool loga_signal_layout_avail = false;
  LayoutType loga_layout_type = LayoutType::LAYOUT4_NFSV4_1_FILES;
  LayoutIomode loga_iomode = LayoutIomode::LAYOUTIOMODE4_READ;
  std::uint64_t loga_offset = 0;
  std::uint64_t loga_length = 0;
  std::uint64_t loga_minlength = 0;
  StateId loga_stateid{};
  std::uint32_t loga_maxcount = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"loga_signal_layout_avail", &LayoutgetArgs::loga_signal_layout_avail},
              Field{"loga_layout_type", &LayoutgetArgs::loga_layout_type},
              Field{"loga_iomode", &LayoutgetArgs::loga_iomode},
              Field{"loga_offset", &LayoutgetArgs::loga_offset},
              Field{"loga_length", &LayoutgetArgs::loga_length},
              Field{"loga_minlength", &LayoutgetArgs::loga_minlength},
              Field{"loga_stateid", &LayoutgetArgs::loga_stateid},
              Field{"loga_maxcount", &LayoutgetArgs::loga_maxcount}};
};

/// LAYOUTGET4resok
struct LayoutgetOk {
  bool logr_return_on_close = false;
  StateId logr_stateid{};
  std::vector<Layout> logr_layout{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"logr_return_on_close", &LayoutgetOk::logr_return_on_close},
              Field{"logr_stateid", &LayoutgetOk::logr_stateid},
              Field{"logr_layout", &LayoutgetOk::logr_layout, kMostLayouts}};
};

/// LAYOUTGET4res
struct LayoutgetResult {
  Status status = Status::NFS4_OK;
  LayoutgetOk resok4{};
  bool logr_will_signal_layout_avail = false;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"status", &LayoutgetResult::status},
              arm<Status::NFS4_OK>("resok4", &LayoutgetResult::resok4),
              arm<Status::NFS4ERR_LAYOUTTRYLATER>("logr_will_signal_layout_avail",
                                                  &LayoutgetResult::logr_will_signal_layout_avail)};
};

/// layoutreturn_file4
struct LayoutreturnFile {
  std::uint64_t lrf_offset = 0;
  std::uint64_t lrf_length = 0;
  StateId lrf_stateid{};
  View lrf_body{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"lrf_offset", &LayoutreturnFile::lrf_offset},
              Field{"lrf_length", &LayoutreturnFile::lrf_length},
              Field{"lrf_stateid", &LayoutreturnFile::lrf_stateid},
              Field{"lrf_body", &LayoutreturnFile::lrf_body, kMostLayoutOctets}};
};

/// layoutreturn4
struct Layoutreturn {
  LayoutreturnType lr_returntype = LayoutreturnType::LAYOUTRETURN4_FILE;
  LayoutreturnFile lr_layout{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"lr_returntype", &Layoutreturn::lr_returntype},
              arm<LayoutreturnType::LAYOUTRETURN4_FILE>("lr_layout", &Layoutreturn::lr_layout)};
};

/// LAYOUTRETURN4args
struct LayoutreturnArgs {
  bool lora_reclaim = false;
  LayoutType lora_layout_type = LayoutType::LAYOUT4_NFSV4_1_FILES;
  LayoutIomode lora_iomode = LayoutIomode::LAYOUTIOMODE4_READ;
  Layoutreturn lora_layoutreturn{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"lora_reclaim", &LayoutreturnArgs::lora_reclaim},
              Field{"lora_layout_type", &LayoutreturnArgs::lora_layout_type},
              Field{"lora_iomode", &LayoutreturnArgs::lora_iomode},
              Field{"lora_layoutreturn", &LayoutreturnArgs::lora_layoutreturn}};
};

/// layoutreturn_stateid
struct LayoutreturnStateid {
  bool lrs_present = false;
  StateId lrs_stateid{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"lrs_present", &LayoutreturnStateid::lrs_present},
              arm<true>("lrs_stateid", &LayoutreturnStateid::lrs_stateid)};
};

using GetdevicelistResult = Result<GetdevicelistOk>;
using LayoutcommitResult = Result<LayoutcommitOk>;
using LayoutreturnResult = Result<LayoutreturnStateid>;

}  // namespace steertag::nfs4
