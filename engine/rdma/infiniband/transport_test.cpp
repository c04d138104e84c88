// Transport headers against hand-written octets, and round trips.
#include "rdma/infiniband/transport.h"

#include <gtest/gtest.h>

#include "rdma/infiniband/psn.h"
#include "rdma/infiniband/routing.h"
#include "wire/testing.h"

namespace steertag::rdma::infiniband {
namespace {

using wire::testing::from_hex;
using wire::testing::to_hex;

TEST(Transport, BaseHeader) {
  const Bytes octets = from_hex("17b0ffff 00000011 80fffffe");
  const BaseHeader header = decode_base(octets.data());
  EXPECT_EQ(header.opcode, Opcode::send_only_invalidate);
  EXPECT_TRUE(header.solicited);
  EXPECT_FALSE(header.migrated);
  EXPECT_EQ(header.pad, 3);
  EXPECT_EQ(header.partition, 0xffff);
  EXPECT_EQ(header.queue_pair, 0x11u);
  EXPECT_TRUE(header.acknowledge);
  EXPECT_EQ(header.psn, 0xfffffeu);
  Bytes again(kBaseBytes);
  encode(header, again.data());
  EXPECT_EQ(to_hex(again), to_hex(octets));
}

TEST(Transport, ExtendedHeaders) {
  const Bytes octets = from_hex("00007f00 00001000 00abcd01 00001000 5a000007 00000000 00000000");
  const RdmaHeader rdma = decode_rdma(octets.data());
  EXPECT_EQ(rdma.address, 0x7f0000001000u);
  EXPECT_EQ(rdma.key, 0xabcd01u);
  EXPECT_EQ(rdma.length, 4096u);
  const AckHeader ack = decode_ack(octets.data() + kRdmaBytes);
  EXPECT_EQ(ack.syndrome, 0x5a);
  EXPECT_EQ(ack.msn, 7u);
  Bytes again(octets.size());
  encode(rdma, again.data());
  encode(ack, again.data() + kRdmaBytes);
  EXPECT_EQ(to_hex(again), to_hex(octets));
  const AtomicHeader atomic = decode_atomic(octets.data());
  encode(atomic, again.data());
  EXPECT_EQ(to_hex(again), to_hex(octets));
  const DatagramHeader datagram{0x80010000, 0x123456};
  encode(datagram, again.data());
  EXPECT_EQ(to_hex(View(again).first(kDatagramBytes)), "80010000 00123456");
  EXPECT_EQ(decode_datagram(again.data()), datagram);
}

TEST(Transport, WhatAnAcknowledgementSays) {
  EXPECT_EQ(ack_kind(0x1f), AckKind::ack);
  EXPECT_EQ(ack_kind(0x2e), AckKind::rnr_nak);
  EXPECT_EQ(ack_kind(0x40), AckKind::other);
  EXPECT_EQ(ack_kind(0x60), AckKind::sequence_nak);
  EXPECT_EQ(ack_kind(0x61), AckKind::invalid_request);
  EXPECT_EQ(ack_kind(0x62), AckKind::access_error);
  EXPECT_EQ(ack_kind(0x63), AckKind::operational_error);
  EXPECT_FALSE(is_fatal(AckKind::sequence_nak));
  EXPECT_FALSE(is_fatal(AckKind::other));
  EXPECT_TRUE(is_fatal(AckKind::access_error));
}

TEST(Transport, OpcodesAndTheirHeaders) {
  const auto octets = [](Opcode opcode) { return traits(opcode).extension_bytes(); };
  EXPECT_EQ(octets(Opcode::send_middle), 0u);
  EXPECT_EQ(octets(Opcode::send_last_immediate), 4u);
  EXPECT_EQ(octets(Opcode::send_only_invalidate), 4u);
  EXPECT_EQ(octets(Opcode::write_only_immediate), 20u);
  EXPECT_EQ(octets(Opcode::read_response_middle), 0u);
  EXPECT_EQ(octets(Opcode::read_response_last), 4u);
  EXPECT_EQ(octets(Opcode::atomic_acknowledge), 12u);
  EXPECT_EQ(octets(Opcode::fetch_add), 28u);
  EXPECT_EQ(octets(Opcode::datagram_send_only_immediate), 12u);
  EXPECT_TRUE(traits(Opcode::write_last).last);
  EXPECT_FALSE(traits(Opcode::write_last).first);
  EXPECT_EQ(traits(static_cast<Opcode>(0x24)).operation, Operation::none)
      << "an unreliable connection's";
  EXPECT_EQ(name(Opcode::write_first), "RDMA WRITE First");
  EXPECT_EQ(name(static_cast<Opcode>(0x15)), "unknown opcode");
}

TEST(Transport, RouteHeaders) {
  const Bytes local = from_hex("f0420004 000b0007");
  const LocalRoute route = decode_local_route(local.data());
  EXPECT_EQ(route.virtual_lane, 15);
  EXPECT_EQ(route.service_level, 4);
  EXPECT_EQ(route.next, LinkNext::transport);
  EXPECT_EQ(route.destination_lid, 4);
  EXPECT_EQ(route.words, 11);
  EXPECT_EQ(route.source_lid, 7);
  Bytes again(kGlobalRouteBytes);
  encode(route, again.data());
  EXPECT_EQ(to_hex(View(again).first(kLocalRouteBytes)), to_hex(local));

  const Bytes global = from_hex(
      "60212345 00101bff fe800000 00000000 00000000 00000001 fe800000 00000000 00000000 00000002");
  const GlobalRoute wide = decode_global_route(global.data());
  EXPECT_EQ(wide.version, 6);
  EXPECT_EQ(wide.traffic_class, 2);
  EXPECT_EQ(wide.flow_label, 0x12345u);
  EXPECT_EQ(wide.payload_length, 16);
  EXPECT_EQ(wide.next_header, kNextHeaderTransport);
  EXPECT_EQ(wide.destination[15], std::byte{2});
  encode(wide, again.data());
  EXPECT_EQ(to_hex(again), to_hex(global));
}

TEST(Transport, NumbersWrap) {
  EXPECT_EQ(psn_after(0xffffff), 0u);
  EXPECT_EQ(psn_distance(0xffffff, 1), 2);
  EXPECT_EQ(psn_distance(1, 0xffffff), -2);
  EXPECT_EQ(psn_distance(0, 0x7fffff), 0x7fffff);
  EXPECT_EQ(psn_distance(0, 0x800000), -0x800000);
}

}  // namespace
}  // namespace steertag::rdma::infiniband
