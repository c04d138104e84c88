// Finds the transport headers in datagrams and frames.
#include "capture/infiniband/transport_packet.h"

#include <algorithm>

#include "capture/infiniband/crc_check.h"
#include "rdma/infiniband/routing.h"
#include "rdma/octets.h"

namespace steertag::capture::infiniband {
namespace {

namespace ib = rdma::infiniband;

constexpr std::size_t kUdpHeaderBytes = 8;

/// Decodes the extended headers. `from` holds all of them.
void read_extensions(const ib::OpcodeTraits& kind, const std::byte* from, TransportPacket& packet) {
  if (kind.reth) packet.rdma = ib::decode_rdma(from);
  if (kind.aeth) packet.ack = ib::decode_ack(from);
  if (kind.invalidate) packet.invalidated = rdma::load32(from);
}

/// `octets` starts with the base header. `length` is that on the wire, including the invariant CRC.
std::optional<TransportPacket> transport(TransportPacket packet, View octets, std::size_t length) {
  if (length < ib::kBaseBytes + ib::kInvariantCrcBytes) return std::nullopt;
  const std::size_t end = length - ib::kInvariantCrcBytes;
  octets = octets.first(std::min(octets.size(), end));
  if (octets.size() < ib::kBaseBytes) return std::nullopt;
  packet.base = ib::decode_base(octets.data());
  const ib::OpcodeTraits& kind = packet.traits();
  const bool known = kind.is_request() || kind.is_response() || kind.datagram;
  if (packet.base.version != 0 || !known) return std::nullopt;
  const std::size_t headers = ib::kBaseBytes + kind.extension_bytes();
  if (end < headers + packet.base.pad) {
    packet.fault = PacketFault::damaged;
    return packet;
  }
  packet.payload_length = end - headers - packet.base.pad;
  if (octets.size() < headers) {
    packet.fault = PacketFault::cut;
    return packet;
  }
  read_extensions(kind, octets.data() + ib::kBaseBytes, packet);
  octets = octets.subspan(headers);
  packet.payload = octets.first(std::min(octets.size(), packet.payload_length));
  return packet;
}

/// Removes `count` octets from the front, and from the length on the wire.
bool take(View& octets, std::size_t& length, std::size_t count) {
  if (octets.size() < count || length < count) return false;
  octets = octets.subspan(count);
  length -= count;
  return true;
}

}  // namespace

std::optional<TransportPacket> transport_packet(const Datagram& datagram) {
  View octets = datagram.payload;
  if (datagram.protocol != kProtocolUdp || octets.size() < kUdpHeaderBytes) return std::nullopt;
  if (rdma::load16(octets.data() + 2) != ib::kRoceUdpPort) return std::nullopt;
  std::size_t length = std::min<std::size_t>(rdma::load16(octets.data() + 4), datagram.length);
  if (!take(octets, length, kUdpHeaderBytes)) return std::nullopt;
  TransportPacket packet;
  packet.stamp = datagram.stamp;
  packet.source = of_ip(datagram.source);
  packet.destination = of_ip(datagram.destination);
  auto found = transport(packet, octets, length);
  if (found && found->fault == PacketFault::none) found->crc_wrong = has_wrong_crc(datagram);
  return found;
}

std::optional<TransportPacket> transport_packet(const InfinibandFrame& frame) {
  View octets = frame.octets;
  std::size_t length = frame.length;
  TransportPacket packet;
  packet.stamp = frame.stamp;
  bool global = true;
  if (frame.has_lrh) {
    if (octets.size() < ib::kLocalRouteBytes) return std::nullopt;
    const ib::LocalRoute route = ib::decode_local_route(octets.data());
    if (route.next < ib::LinkNext::transport) return std::nullopt;
    global = route.next == ib::LinkNext::global_route;
    packet.source = of_lid(route.source_lid);
    packet.destination = of_lid(route.destination_lid);
    // A variant CRC may follow.
    length = std::min<std::size_t>(length, std::size_t{4} * route.words);
    if (!take(octets, length, ib::kLocalRouteBytes)) return std::nullopt;
  }
  if (global) {
    if (octets.size() < ib::kGlobalRouteBytes) return std::nullopt;
    const ib::GlobalRoute route = ib::decode_global_route(octets.data());
    if (route.next_header != ib::kNextHeaderTransport) return std::nullopt;
    if (!frame.has_lrh) {
      packet.source = of_gid(route.source);
      packet.destination = of_gid(route.destination);
    }
    if (!take(octets, length, ib::kGlobalRouteBytes)) return std::nullopt;
    // Ethernet may have padded the frame.
    length = std::min<std::size_t>(length, route.payload_length);
  }
  return transport(packet, octets, length);
}

}  // namespace steertag::capture::infiniband
