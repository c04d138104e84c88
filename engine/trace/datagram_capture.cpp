// Copies datagrams within the limit.
#include "trace/datagram_capture.h"

namespace steertag::trace {

DatagramCapture::DatagramCapture(std::size_t limit_bytes) : Capture(limit_bytes) {}

void DatagramCapture::on_datagram(std::int64_t time_ns, const Datagram& datagram) {
  if (!admit(datagram.octets.size(), kept_.size())) return;
  kept_.push_back({monotonic(time_ns), datagram.sender, datagram.from, datagram.to,
                   datagram.identification, octets_.size(), datagram.octets.size()});
  octets_.insert(octets_.end(), datagram.octets.begin(), datagram.octets.end());
}

std::vector<std::pair<Role, View>> DatagramCapture::datagrams() const {
  std::vector<std::pair<Role, View>> all;
  all.reserve(kept_.size());
  for (const Kept& kept : kept_)
    all.emplace_back(kept.sender, View(octets_).subspan(kept.begin, kept.length));
  return all;
}

std::vector<CapturedPacket> DatagramCapture::plan() const {
  std::vector<CapturedPacket> packets;
  packets.reserve(kept_.size());
  for (const Kept& kept : kept_)
    packets.push_back(
        {kept.time_ns,
         kept.sender,
         kept.from,
         kept.to,
         UdpDatagram{View(octets_).subspan(kept.begin, kept.length), kept.identification},
         {}});
  return packets;
}

}  // namespace steertag::trace
