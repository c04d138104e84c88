// Applies faults to each packet in turn.
#include "fabric/roce/network/faulty_datagrams.h"

#include "fabric/roce/network/udp_datagrams.h"

namespace steertag::fabric::roce {

std::size_t FaultyDatagrams::send(std::span<const Outbound> packets) {
  leaving_.clear();
  for (const Outbound& packet : packets) {
    ++counts_.sent;
    if (chance(rates_.drop)) {
      ++counts_.dropped;
      continue;
    }
    Outbound out = packet;
    if (chance(rates_.cut)) {
      ++counts_.cut;
      out.octets = out.octets.first(random_() % out.octets.size());
    }
    if (!holds_ && chance(rates_.swap)) {
      ++counts_.swapped;
      held_.assign(out.octets.begin(), out.octets.end());
      held_to_ = *out.to;
      holds_ = true;
      continue;
    }
    leaving_.push_back(out);
    if (chance(rates_.twice)) {
      ++counts_.doubled;
      leaving_.push_back(out);
    }
    if (holds_) {
      leaving_.push_back({held_, &held_to_});
      network_->send(leaving_);  // what does not fit is one more loss
      leaving_.clear();
      holds_ = false;
    }
  }
  network_->send(leaving_);
  return packets.size();
}

OpenDatagrams faulty_udp(const FaultRates& rates, std::uint64_t seed) {
  auto next = std::make_shared<std::uint64_t>(seed);
  return [rates, next](const Address& local,
                       int buffer_bytes) -> Expected<std::unique_ptr<Datagrams>, Error> {
    auto network = UdpDatagrams::open(local, buffer_bytes);
    if (!network) {
      return network;
    }
    return std::make_unique<FaultyDatagrams>(std::move(*network), rates, (*next)++);
  };
}

}  // namespace steertag::fabric::roce
