// Fuzzes the bodies of the file layout type, and striping by what decodes.
// The first two octets say how much of the input is the layout; the device address follows.
#include "nfs/fuzz/check_codec.h"
#include "nfs/v4/device_notification.h"
#include "nfs/v4/striping.h"

using namespace steertag;

namespace {

constexpr std::size_t kPrefixOctets = 2;

template <class T>
bool decodes(T& value, View input) {
  wire::Reader reader(input);
  value.decode(reader);
  return reader.ok();
}

void check_part(const nfs4::FileLayout& layout, const nfs4::FileLayoutDevice& device,
                std::uint64_t offset) {
  const auto part = nfs4::Striping(layout, device).at(offset);
  if (part.has_value() != (offset >= layout.nfl_pattern_offset)) std::abort();
  if (!part) return;
  if (part->list >= device.nflda_multipath_ds_list.size()) std::abort();
  if (part->handle && *part->handle >= layout.nfl_fh_list.size()) std::abort();
  if (part->length == 0 || part->length > nfs4::stripe_unit(layout.nfl_util)) std::abort();
  if (part->offset > offset) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kPrefixOctets) return 0;
  const View input = fuzz::view_of(data, size).subspan(kPrefixOctets);
  const std::size_t first =
      std::min<std::size_t>(std::size_t{data[0]} << 8 | data[1], input.size());
  fuzz::check_codec<nfs4::FileLayout>(input.first(first));
  fuzz::check_codec<nfs4::FileLayoutDevice>(input.subspan(first));
  fuzz::check_codec<nfs4::FileLayoutHint>(input.subspan(first));
  fuzz::check_codec<nfs4::NotifyDeviceidChange>(input.subspan(first));
  fuzz::check_codec<nfs4::NotifyDeviceidDelete>(input.subspan(first));
  nfs4::FileLayout layout;
  nfs4::FileLayoutDevice device;
  if (!decodes(layout, input.first(first)) || !decodes(device, input.subspan(first))) return 0;
  if (nfs4::find_striping_fault(layout, device)) return 0;
  for (const std::uint64_t offset :
       {std::uint64_t{0}, layout.nfl_pattern_offset, ~std::uint64_t{0}}) {
    check_part(layout, device, offset);
  }
  return 0;
}
