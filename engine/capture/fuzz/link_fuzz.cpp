// Any packets of any link: what comes out lies inside the packet or a bounded store, and is never
// longer than its length on the wire. The first octet chooses the link; each packet has three
// octets before it: its length, and how much more was on the wire.
#include <algorithm>
#include <iterator>

#include "capture/link/link_layers.h"
#include "wire/fuzz/check.h"

namespace {

using namespace steertag;
using namespace steertag::capture;

constexpr LinkType kLinks[] = {LinkType::ethernet,     LinkType::null_loopback,
                               LinkType::raw_ip,       LinkType::openbsd_loopback,
                               LinkType::linux_cooked, LinkType::erf,
                               LinkType::infiniband,   LinkType::linux_cooked_2};

void check_frame(const LinkFrame& frame, const Packet& packet) {
  if (const auto* datagram = std::get_if<Datagram>(&frame)) {
    fuzz::check(datagram->payload.size() <= datagram->length);
    fuzz::check(datagram->place.frame == packet.place.frame);
    fuzz::check(!datagram->source.text().empty() && !datagram->destination.text().empty());
  }
  if (const auto* infiniband = std::get_if<InfinibandFrame>(&frame)) {
    fuzz::check(infiniband->octets.size() <= infiniband->length);
    fuzz::check(infiniband->octets.size() <= packet.octets.size());
  }
  // Reads every octet, so that a view of what is gone is seen.
  unsigned sum = 0;
  const auto add = [&](View octets) {
    for (const std::byte each : octets) sum += std::to_integer<unsigned>(each);
  };
  if (const auto* datagram = std::get_if<Datagram>(&frame)) add(datagram->payload);
  if (const auto* infiniband = std::get_if<InfinibandFrame>(&frame)) add(infiniband->octets);
  fuzz::check(sum <= 255u * (kMostReassembledBytes + packet.octets.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  View rest = fuzz::view_of(data, size);
  if (rest.empty()) return 0;
  const LinkType link = kLinks[std::to_integer<std::size_t>(rest[0]) % std::size(kLinks)];
  rest = rest.subspan(1);
  LinkLayers layers;
  for (std::uint64_t frame = 1; rest.size() >= 3; ++frame) {
    const std::size_t length =
        std::to_integer<std::size_t>(rest[0]) << 8 | std::to_integer<std::size_t>(rest[1]);
    const std::size_t more = std::to_integer<std::size_t>(rest[2]) * 8;
    rest = rest.subspan(3);
    // A copy of its own, so that a look behind it is seen.
    const Bytes octets(rest.begin(),
                       rest.begin() + static_cast<std::ptrdiff_t>(std::min(length, rest.size())));
    rest = rest.subspan(octets.size());
    const Packet packet{{frame, 0}, link, octets, octets.size() + more};
    check_frame(layers.read(packet), packet);
  }
  return 0;
}
