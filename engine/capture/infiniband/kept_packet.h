// A packet with a copy of what is needed of its payload.
#pragma once

#include "capture/infiniband/transport_packet.h"

namespace steertag::capture::infiniband {

/// Moving it does not move the copy's octets.
struct KeptPacket {
  explicit KeptPacket(const TransportPacket& kept) : packet(kept) {
    if (packet.traits().operation == rdma::infiniband::Operation::read_response) {
      packet.payload = {};  // no event has it
    }
    octets.assign(packet.payload.begin(), packet.payload.end());
    packet.payload = octets;
  }
  KeptPacket(KeptPacket&&) = default;
  KeptPacket& operator=(KeptPacket&&) = default;

  /// Memory that it takes.
  std::size_t bytes() const { return sizeof(KeptPacket) + octets.size(); }

  TransportPacket packet;
  Bytes octets;
};

}  // namespace steertag::capture::infiniband
