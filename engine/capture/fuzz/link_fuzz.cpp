// Any packets of any link.
//
// Every result lies inside the packet or a limited store, and is never longer than its length on
// the wire.
#include "capture/fuzz/packets.h"
#include "capture/link/link_layers.h"
#include "wire/fuzz/check.h"

namespace {

using namespace steertag;
using namespace steertag::capture;

void check_frame(const LinkFrame& frame, const Packet& packet) {
  if (const auto* datagram = std::get_if<Datagram>(&frame)) {
    fuzz::check(datagram->payload.size() <= datagram->length);
    fuzz::check(datagram->stamp.frame == packet.stamp.frame);
    fuzz::check(!datagram->source.text().empty() && !datagram->destination.text().empty());
  }
  if (const auto* infiniband = std::get_if<InfinibandFrame>(&frame)) {
    fuzz::check(infiniband->octets.size() <= infiniband->length);
    fuzz::check(infiniband->octets.size() <= packet.octets.size());
  }
  // Reads every octet, so that sanitizers detect a dangling view.
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
  const View input = fuzz::view_of(data, size);
  if (input.empty()) return 0;
  LinkLayers layers;
  each_packet(input, [&](const Packet& packet) { check_frame(layers.read(packet), packet); });
  return 0;
}
