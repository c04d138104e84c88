// Stripe units, and what makes a layout of no use.
#include "nfs/v4/striping.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace steertag::nfs4 {
namespace {

// Of dense packing: data servers tell the units of a file by their handles.
bool units_share_a_handle(const FileLayout& layout, const FileLayoutDevice& device) {
  // A handle at an address, and the stripe index that has both.
  std::map<std::pair<std::string, std::pair<std::string_view, std::string_view>>, std::size_t> used;
  for (std::size_t stripe = 0; stripe < device.nflda_stripe_indices.size(); ++stripe) {
    const View handle = layout.nfl_fh_list[stripe].view();
    const std::string octets(reinterpret_cast<const char*>(handle.data()), handle.size());
    const std::uint32_t list = device.nflda_stripe_indices[stripe];
    for (const NetAddr& address : device.nflda_multipath_ds_list[list].addresses) {
      const auto [place, first] =
          used.try_emplace({octets, {address.na_r_netid, address.na_r_addr}}, stripe);
      if (!first && place->second != stripe) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<StripingFault> find_striping_fault(const FileLayout& layout,
                                                 const FileLayoutDevice& device) {
  const std::size_t lists = device.nflda_multipath_ds_list.size();
  const std::size_t stripes = device.nflda_stripe_indices.size();
  const std::size_t handles = layout.nfl_fh_list.size();
  if (stripe_unit(layout.nfl_util) == 0) {
    return StripingFault{"RFC8881-13.3-3", "the stripe unit has no octets"};
  }
  if (stripes == 0) return StripingFault{"RFC8881-13.3-1", "there are no stripe indices"};
  const auto beyond = [&](std::uint32_t list) { return list >= lists; };
  if (std::ranges::any_of(device.nflda_stripe_indices, beyond)) {
    return StripingFault{"RFC8881-13.3-1", "a stripe index is beyond the lists of addresses"};
  }
  const auto is_empty = [](const MultipathList& list) { return list.addresses.empty(); };
  if (std::ranges::any_of(device.nflda_multipath_ds_list, is_empty)) {
    return StripingFault{"RFC8881-13.3-1", "a list of addresses is empty"};
  }
  if (!is_dense(layout.nfl_util)) {
    if (handles > 1 && handles != lists) {
      return StripingFault{"RFC8881-13.3-4", "neither no handle nor one nor one a list"};
    }
    return std::nullopt;
  }
  if (handles != stripes) return StripingFault{"RFC8881-13.3-5", "not one handle a stripe index"};
  if (units_share_a_handle(layout, device)) {
    return StripingFault{"RFC8881-13.3-5", "two units have one handle at one data server"};
  }
  return std::nullopt;
}

std::optional<StripePart> Striping::at(std::uint64_t file_offset) const {
  if (file_offset < layout_.nfl_pattern_offset) return std::nullopt;
  const std::uint64_t unit = stripe_unit(layout_.nfl_util);
  const std::uint64_t stripes = device_.nflda_stripe_indices.size();
  const std::uint64_t relative = file_offset - layout_.nfl_pattern_offset;
  const std::uint64_t within = relative % unit;
  const std::uint64_t number = relative / unit;                                    // SUi
  const std::size_t stripe = (number + layout_.nfl_first_stripe_index) % stripes;  // j
  const std::size_t list = device_.nflda_stripe_indices[stripe];
  // Dense data has no holes: a data server's file is made of the units that have its handle.
  const std::uint64_t offset =
      is_dense(layout_.nfl_util) ? number / stripes * unit + within : file_offset;
  return StripePart{list, handle_of(stripe, list), offset, unit - within};
}

std::optional<std::size_t> Striping::handle_of(std::size_t stripe, std::size_t list) const {
  if (is_dense(layout_.nfl_util)) return stripe;
  switch (layout_.nfl_fh_list.size()) {
    case 0:
      return std::nullopt;
    case 1:
      return 0;
    default:
      return list;
  }
}

}  // namespace steertag::nfs4
