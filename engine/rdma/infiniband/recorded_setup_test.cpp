// The queue pair that a recorded connection is known by.
#include "rdma/infiniband/recorded_setup.h"

#include <gtest/gtest.h>

#include "rdma/infiniband/cm_message.h"
#include "rdma/infiniband/mad.h"
#include "rdma/infiniband/packet.h"

namespace steertag::rdma::infiniband {
namespace {

using trace::Role;

Bytes packet(const PacketHeaders& headers, View payload) {
  return whole_packet(headers, payload, InvariantCrc(Ipv4Route{}));
}

Bytes message(CmKind kind, std::uint32_t queue_pair) {
  Bytes mad(kMadBytes);
  MadHeader header;
  header.attribute = static_cast<std::uint16_t>(kind);
  encode(header, mad.data());
  CmMessage message;
  message.kind = kind;
  message.queue_pair = queue_pair;
  encode(message, mad.data() + kMadHeaderBytes);
  PacketHeaders headers;
  headers.base.opcode = Opcode::datagram_send_only;
  headers.base.queue_pair = kManagementQueuePair;
  return packet(headers, mad);
}

std::optional<std::uint32_t> number(const std::vector<std::pair<Role, Bytes>>& datagrams) {
  trace::DatagramCapture capture;
  for (const auto& [sender, octets] : datagrams) {
    capture.on_datagram(0, {sender, {}, {}, octets, 0});
  }
  return client_queue_pair(capture);
}

TEST(RecordedSetup, TheFirstRequestOfTheClientHasTheQueuePair) {
  const Bytes send = packet({}, {});
  EXPECT_EQ(number({{Role::client, send},
                    {Role::client, message(CmKind::disconnect_reply, 5)},
                    {Role::server, message(CmKind::connect_reply, 6)},
                    {Role::client, message(CmKind::connect_request, 7)},
                    {Role::client, message(CmKind::connect_request, 8)}}),
            7U);
}

TEST(RecordedSetup, WithoutARequestThereIsNone) {
  EXPECT_FALSE(number({}));
  EXPECT_FALSE(number({{Role::client, Bytes(3)},
                       {Role::client, packet({}, {})},
                       {Role::server, message(CmKind::connect_request, 7)},
                       {Role::client, message(CmKind::ready_to_use, 0)}}));
  Bytes cut = message(CmKind::connect_request, 7);
  cut.resize(60);
  EXPECT_FALSE(number({{Role::client, cut}}));
}

}  // namespace
}  // namespace steertag::rdma::infiniband
