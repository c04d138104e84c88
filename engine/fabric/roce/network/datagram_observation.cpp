// Names the ends of datagrams as an observer knows them.
#include "fabric/roce/network/datagram_observation.h"

#include <utility>

#include "fabric/roce/packets/gid.h"

namespace steertag::fabric::roce {
namespace {

trace::Endpoint endpoint_of(const Address& address) {
  return {gid_of(address), address.port()};
}

}  // namespace

void DatagramObservation::observe(trace::ByteSink* sink, trace::Role own) {
  sink_ = sink;
  own_ = own;
  const Bytes first = std::exchange(kept_, {});
  if (sink_ != nullptr && !first.empty()) {
    sink_->on_datagram(kept_at_, {trace::other(own_), endpoint_of(kept_from_), endpoint_of(local_),
                                  first, kept_identification_});
  }
}

void DatagramObservation::keep(const Inbound& datagram) {
  kept_at_ = reactor_.now();
  kept_from_ = *datagram.from;
  kept_identification_ = datagram.identification;
  kept_.assign(datagram.octets.begin(), datagram.octets.end());
}

void DatagramObservation::report(trace::Role sender, const Address& from, const Address& to,
                                 View octets, std::uint16_t identification) {
  // IPv6 has no identification: there it is only the packet's place in a run.
  const std::uint16_t of_header = is_ipv4(from) ? identification : std::uint16_t{0};
  sink_->on_datagram(reactor_.now(),
                     {sender, endpoint_of(from), endpoint_of(to), octets, of_header});
}

}  // namespace steertag::fabric::roce
