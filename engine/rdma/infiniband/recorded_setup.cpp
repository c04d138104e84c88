// Looks for the first request among the datagrams of the client.
#include "rdma/infiniband/recorded_setup.h"

#include "rdma/infiniband/cm_message.h"
#include "rdma/infiniband/mad.h"
#include "rdma/infiniband/packet.h"

namespace steertag::rdma::infiniband {
namespace {

std::optional<CmMessage> request_of(View octets) {
  const auto packet = parse_packet(octets);
  if (!packet || packet->headers.traits().operation != Operation::datagram ||
      packet->headers.base.queue_pair != kManagementQueuePair ||
      packet->payload.size() < kMadHeaderBytes) {
    return std::nullopt;
  }
  const MadHeader header = decode_mad_header(packet->payload.data());
  if (!header.is_communication()) return std::nullopt;
  auto message = decode_cm(header.attribute, packet->payload.subspan(kMadHeaderBytes));
  return message && message->kind == CmKind::connect_request ? message : std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> client_queue_pair(const trace::DatagramCapture& capture) {
  for (const trace::CapturedPacket& packet : capture.packets()) {
    if (packet.sender != trace::Role::client) continue;
    if (const auto request = request_of(packet.datagram().payload)) return request->queue_pair;
  }
  return std::nullopt;
}

}  // namespace steertag::rdma::infiniband
