// The bodies of the file layout type, LAYOUT4_NFSV4_1_FILES (RFC 8881 13.3).
// They stand in `loc_body` of a layout, `da_addr_body` of a device address and `loh_body` of a
// hint.
#pragma once

#include <cstdint>
#include <vector>

#include "nfs/v4/types.h"

namespace steertag::nfs4 {

// nfl_util4: flags in the six lowest bits, above them the stripe unit in octets.
inline constexpr std::uint32_t kLayoutFlags = 0x3f;          // NFL4_UFLG_MASK
inline constexpr std::uint32_t kDense = 0x01;                // NFL4_UFLG_DENSE
inline constexpr std::uint32_t kCommitThroughServer = 0x02;  // NFL4_UFLG_COMMIT_THRU_MDS
/// The smallest stripe unit; all are multiples of it.
inline constexpr std::uint32_t kLeastStripeUnit = kLayoutFlags + 1;

constexpr bool is_dense(std::uint32_t util) {
  return (util & kDense) != 0;
}
/// COMMIT goes to the metadata server, not to the data servers that took the WRITEs (RFC
/// 8881 13.7).
constexpr bool commits_through_server(std::uint32_t util) {
  return (util & kCommitThroughServer) != 0;
}
/// NFL4_UFLG_STRIPE_UNIT_SIZE_MASK, octets.
constexpr std::uint32_t stripe_unit(std::uint32_t util) {
  return util & ~kLayoutFlags;
}

/// nfsv4_1_file_layout4
struct FileLayout {
  DeviceId nfl_deviceid{};
  std::uint32_t nfl_util = 0;
  std::uint32_t nfl_first_stripe_index = 0;
  std::uint64_t nfl_pattern_offset = 0;
  std::vector<FileHandle> nfl_fh_list{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"nfl_deviceid", &FileLayout::nfl_deviceid}, Field{"nfl_util", &FileLayout::nfl_util},
      Field{"nfl_first_stripe_index", &FileLayout::nfl_first_stripe_index},
      Field{"nfl_pattern_offset", &FileLayout::nfl_pattern_offset},
      Field{"nfl_fh_list", &FileLayout::nfl_fh_list, kMostStripes}};
};

/// multipath_list4: the addresses of one data server.
struct MultipathList {
  std::vector<NetAddr> addresses{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"multipath_list4", &MultipathList::addresses, kMostPaths}};
};

/// nfsv4_1_file_layout_ds_addr4
struct FileLayoutDevice {
  std::vector<std::uint32_t> nflda_stripe_indices{};
  std::vector<MultipathList> nflda_multipath_ds_list{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"nflda_stripe_indices", &FileLayoutDevice::nflda_stripe_indices, kMostStripes},
      Field{"nflda_multipath_ds_list", &FileLayoutDevice::nflda_multipath_ds_list, kMostStripes}};
};

// filelayout_hint_care4: what of a hint its sender cares about.
inline constexpr std::uint32_t kCareDense = kDense;  // NFLH4_CARE_DENSE
inline constexpr std::uint32_t kCareCommitThroughServer = kCommitThroughServer;
inline constexpr std::uint32_t kCareStripeUnit = 0x40;   // NFLH4_CARE_STRIPE_UNIT_SIZE
inline constexpr std::uint32_t kCareStripeCount = 0x80;  // NFLH4_CARE_STRIPE_COUNT

/// nfsv4_1_file_layouthint4
struct FileLayoutHint {
  std::uint32_t nflh_care = 0;
  std::uint32_t nflh_util = 0;
  std::uint32_t nflh_stripe_count = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"nflh_care", &FileLayoutHint::nflh_care},
              Field{"nflh_util", &FileLayoutHint::nflh_util},
              Field{"nflh_stripe_count", &FileLayoutHint::nflh_stripe_count}};
};

}  // namespace steertag::nfs4
