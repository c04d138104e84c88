// The data servers of a metadata server.
#include "server/v4/pnfs/data_servers.h"

#include <algorithm>
#include <array>

#include "server/storage/filehandle_mac.h"
#include "wire/encoded.h"

namespace steertag::peer {
namespace {

constexpr std::size_t kIndexOctets = 4;
constexpr std::size_t kMacOctets = 8;
constexpr std::size_t kComponentHandleOctets = kHandleBytes + kIndexOctets + kMacOctets;
static_assert(kComponentHandleOctets <= nfs4::kMostHandleOctets);
static_assert(kComponentHandleOctets != kHandleBytes, "the metadata server takes none of them");
// nfsv4_1_file_layout4 without its handles. Each has its length before it.
constexpr std::size_t kLayoutOctets = nfs4::kDeviceIdOctets + 3 * 4 + 8;
static_assert(kLayoutOctets + kMostStripeUnits * (4 + kComponentHandleOctets) <=
              nfs4::kMostLayoutOctets);
static_assert(kMostStripeUnits <= nfs4::kMostStripes);

}  // namespace

DataServers::DataServers(const StripePattern& pattern, const std::function<std::uint64_t()>& random,
                         const PnfsPolicy& policy)
    : pattern_(pattern), policy_(policy), has_secret_(true), secret_{{random(), random()}} {
  replace_device(random);
}

void DataServers::replace_device(const std::function<std::uint64_t()>& random) {
  wire::store_u64(device_.data(), random());
  wire::store_u64(device_.data() + sizeof(std::uint64_t), random());
}

std::size_t DataServers::known() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(addresses_, [](const auto& each) { return !each.empty(); }));
}

bool DataServers::set(std::uint32_t index, const std::vector<DataServerAddress>& addresses) {
  addresses_.resize(pattern_.count);
  const bool had_others = !addresses_[index].empty() && addresses_[index] != addresses;
  addresses_[index] = addresses;
  return had_others;
}

void DataServers::take_out(std::uint32_t index) {
  if (index < addresses_.size()) addresses_[index].clear();
}

void DataServers::adopt(const StripePattern& pattern, const HandleSecret& secret) {
  pattern_ = pattern;
  secret_ = secret;
  has_secret_ = true;
}

Bytes DataServers::device_body() const {
  nfs4::FileLayoutDevice device;
  for (const auto& addresses : addresses_) {
    nfs4::MultipathList& list = device.nflda_multipath_ds_list.emplace_back();
    for (const DataServerAddress& each : addresses)
      list.addresses.push_back({each.netid, each.address});
  }
  for (std::uint32_t unit = 0; unit < pattern_.units(); ++unit)
    device.nflda_stripe_indices.push_back(unit % pattern_.count);
  return wire::encoded(device);
}

Bytes DataServers::layout_body(const Handle& file, std::uint64_t file_id) const {
  nfs4::FileLayout layout;
  layout.nfl_deviceid = device_;
  layout.nfl_util = pattern_.util();
  layout.nfl_first_stripe_index = Component::first_index(pattern_, file_id);
  // As many handles as stripe indices. With sparse packing these are as many as the lists.
  for (std::uint32_t index = 0; index < pattern_.units(); ++index)
    layout.nfl_fh_list.push_back(handle({file, index}));
  return wire::encoded(layout);
}

std::uint64_t DataServers::mac(const ComponentHandle& component) const {
  std::array<std::uint64_t, kHandleBytes / sizeof(std::uint64_t) + 1> words{};
  for (std::size_t word = 0; word + 1 < words.size(); ++word)
    words[word] = wire::load_u64(component.file.data() + word * sizeof(std::uint64_t));
  words.back() = component.index;
  return filehandle_mac(secret_.key, words);
}

nfs4::FileHandle DataServers::handle(const ComponentHandle& component) const {
  std::array<std::byte, kComponentHandleOctets> octets{};
  std::ranges::copy(component.file, octets.begin());
  wire::store_u32(octets.data() + kHandleBytes, component.index);
  wire::store_u64(octets.data() + kHandleBytes + kIndexOctets, mac(component));
  return nfs4::FileHandle(View(octets));
}

std::optional<ComponentHandle> DataServers::resolve(View handle) const {
  if (!has_secret_ || handle.size() != kComponentHandleOctets) return std::nullopt;
  ComponentHandle component;
  std::ranges::copy(handle.first(kHandleBytes), component.file.begin());
  component.index = wire::load_u32(handle.data() + kHandleBytes);
  if (wire::load_u64(handle.data() + kHandleBytes + kIndexOctets) != mac(component))
    return std::nullopt;
  return component;
}

}  // namespace steertag::peer
