// The values of a CB_NOTIFY_DEVICEID (RFC 8881 20.12), which stand in `notify_vals`.
#pragma once

#include <cstdint>

#include "nfs/v4/types.h"

namespace steertag::nfs4 {

// notify_deviceid_type4: numbers of notify_mask, and of gdia_notify_types.
inline constexpr std::uint32_t NOTIFY_DEVICEID4_CHANGE = 1;
inline constexpr std::uint32_t NOTIFY_DEVICEID4_DELETE = 2;

/// notify_deviceid_delete4
struct NotifyDeviceidDelete {
  LayoutType ndd_layouttype = LayoutType::LAYOUT4_NFSV4_1_FILES;
  DeviceId ndd_deviceid{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"ndd_layouttype", &NotifyDeviceidDelete::ndd_layouttype},
              Field{"ndd_deviceid", &NotifyDeviceidDelete::ndd_deviceid}};
};

/// notify_deviceid_change4
struct NotifyDeviceidChange {
  LayoutType ndc_layouttype = LayoutType::LAYOUT4_NFSV4_1_FILES;
  DeviceId ndc_deviceid{};
  bool ndc_immediate = false;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"ndc_layouttype", &NotifyDeviceidChange::ndc_layouttype},
              Field{"ndc_deviceid", &NotifyDeviceidChange::ndc_deviceid},
              Field{"ndc_immediate", &NotifyDeviceidChange::ndc_immediate}};
};

}  // namespace steertag::nfs4
