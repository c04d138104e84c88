// A packet with a copy of the payload octets that events need.
#pragma once

#include "capture/infiniband/transport_packet.h"

namespace steertag::capture::infiniband {

/// Moving it keeps the copied octets in place.
struct KeptPacket {
  explicit KeptPacket(const TransportPacket& kept) : packet(kept) {
    if (packet.traits().operation == rdma::infiniband::Operation::read_response) {
      packet.payload = {};  // no event carries it
    }
    octets.assign(packet.payload.begin(), packet.payload.end());
    packet.payload = octets;
  }
  KeptPacket(KeptPacket&&) = default;
  KeptPacket& operator=(KeptPacket&&) = default;

  /// Memory in use.
  std::size_t bytes() const { return sizeof(KeptPacket) + octets.size(); }

  TransportPacket packet;
  Bytes octets;
};

}  // namespace steertag::capture::infiniband
