// A packet of the InfiniBand transport over any link layer: its headers and its payload.
#pragma once

#include <optional>

#include "capture/datagram.h"
#include "capture/infiniband/address.h"
#include "capture/infiniband_frame.h"
#include "rdma/infiniband/transport.h"

namespace steertag::capture::infiniband {

/// The fault of a packet with a whole base header.
enum class PacketFault : std::uint8_t {
  none,
  cut,      // an extended header is truncated; the payload's length is known
  damaged,  // its length has no room for the headers of its opcode
};

struct TransportPacket {
  FrameStamp stamp;
  Address source;
  Address destination;
  rdma::infiniband::BaseHeader base;
  PacketFault fault = PacketFault::none;
  rdma::infiniband::RdmaHeader rdma;  // these three depend on the opcode
  rdma::infiniband::AckHeader ack;
  std::uint32_t invalidated = 0;
  View payload;                    // the captured part, without pad and invariant CRC
  std::size_t payload_length = 0;  // on the wire
  bool crc_wrong = false;          // RoCEv2, if the capture has all that the invariant CRC covers

  const rdma::infiniband::OpcodeTraits& traits() const {
    return rdma::infiniband::traits(base.opcode);
  }
  FlowKey flow() const { return {source, destination, base.queue_pair}; }
  bool payload_cut() const { return payload.size() < payload_length; }
};

/// The packet in a datagram to UDP port 4791. Nothing for another protocol, for a service other
/// than reliable connections and management, or for a truncated base header.
std::optional<TransportPacket> transport_packet(const Datagram& datagram);
std::optional<TransportPacket> transport_packet(const InfinibandFrame& frame);

}  // namespace steertag::capture::infiniband
