// Packets of every opcode: round trips, what hostile octets are, and the frame around a payload.
#include "rdma/infiniband/packet.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "rdma/octets.h"
#include "wire/testing.h"

namespace steertag::rdma::infiniband {
namespace {

using wire::testing::from_hex;
using wire::testing::to_hex;

std::vector<Opcode> known_opcodes() {
  std::vector<Opcode> known;
  for (int value = 0; value < 256; ++value) {
    const auto opcode = static_cast<Opcode>(value);
    if (traits(opcode).operation != Operation::none) known.push_back(opcode);
  }
  return known;
}

InvariantCrc any_crc() {
  return InvariantCrc(Ipv4Route{});
}

std::string fault_of(View octets) {
  const auto packet = parse_packet(octets);
  return packet ? "none" : describe(packet.error());
}

TEST(Packet, SendWithInvalidateHasAnIeth) {
  PacketHeaders headers;
  headers.base.opcode = Opcode::send_only_invalidate;
  headers.base.migrated = true;
  headers.base.acknowledge = true;
  headers.base.queue_pair = 0x11;
  headers.base.psn = 7;
  headers.invalidate = 0xabcdef01;
  const Bytes payload = from_hex("0102030405");
  const Bytes octets = whole_packet(headers, payload, any_crc());
  EXPECT_EQ(to_hex(View(octets).first(headers.bytes())), "1770ffff 00000011 80000007 abcdef01");
  EXPECT_TRUE(any_crc().check(octets));
  const auto packet = parse_packet(octets);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->headers.invalidate, 0xabcdef01u);
  EXPECT_EQ(to_hex(packet->payload), "01020304 05");
  EXPECT_EQ(to_hex(packet->pad), "000000");
}

TEST(Packet, ExtendedHeadersStandInTheirOrder) {
  PacketHeaders headers;
  headers.rdma = {0x1122334455667788, 0x99aabbcc, 0xddeeff00};
  headers.datagram = {0x80010000, 0x123456};
  headers.ack = {0x1f, 0xabcdef};
  headers.original = 0x0102030405060708;
  headers.immediate = 0xcafecafe;
  const auto extension = [&](Opcode opcode) {
    headers.base.opcode = opcode;
    const Bytes octets = whole_packet(headers, {}, any_crc());
    return to_hex(View(octets).first(headers.bytes()).subspan(kBaseBytes));
  };
  EXPECT_EQ(extension(Opcode::write_only_immediate),
            "11223344 55667788 99aabbcc ddeeff00 cafecafe");
  EXPECT_EQ(extension(Opcode::datagram_send_only_immediate), "80010000 00123456 cafecafe");
  EXPECT_EQ(extension(Opcode::atomic_acknowledge), "1fabcdef 01020304 05060708");
}

TEST(Packet, APayloadInPiecesIsWrittenWhole) {
  const Bytes payload = from_hex("000102030405060708");
  PacketHeaders headers;
  headers.base.opcode = Opcode::write_middle;
  const Bytes whole = whole_packet(headers, payload, any_crc());
  const View pieces[] = {View(payload).first(4), {}, View(payload).subspan(4)};
  Bytes parts(whole.size());
  const std::size_t bytes = write_packet(headers, pieces, parts.data());
  EXPECT_EQ(bytes + kInvariantCrcBytes, whole.size());
  EXPECT_EQ(to_hex(View(parts).first(bytes)), to_hex(View(whole).first(bytes)));
}

TEST(Packet, ItsVersionIsZero) {
  PacketHeaders headers;
  headers.base.opcode = Opcode::read_request;
  headers.base.version = 15;
  const Bytes octets = whole_packet(headers, {}, any_crc());
  EXPECT_TRUE(any_crc().check(octets));
  EXPECT_EQ(fault_of(octets), "the transport header has version 15");
}

TEST(Packet, WhatIsNone) {
  EXPECT_EQ(fault_of({}), "the packet has no room for a base header and an invariant CRC");
  Bytes octets = from_hex("0400ffff 00000011 00000007 00000000");
  EXPECT_EQ(fault_of(octets), "none");
  EXPECT_EQ(fault_of(View(octets).first(15)),
            "the packet has no room for a base header and an invariant CRC");
  octets[0] = std::byte{0x15};
  EXPECT_EQ(fault_of(octets), "the opcode 0x15 is unknown");
  octets[0] = std::byte{0x24};
  EXPECT_EQ(fault_of(octets), "the opcode 0x24 is unknown") << "an unreliable connection's";
  octets[0] = std::byte{0x0c};
  EXPECT_EQ(fault_of(octets), "the packet has no room for the headers of RDMA READ Request");
  octets[0] = std::byte{0x04};
  octets[1] = std::byte{0x10};
  EXPECT_EQ(fault_of(octets), "the packet has more pad than payload");
  octets.resize(octets.size() + 3);
  EXPECT_EQ(fault_of(octets), "the packet's length is no multiple of four octets");
}

TEST(Packet, ACongestionNotificationIsOne) {
  Bytes octets = from_hex("8140ffff 40000011 00000000");
  octets.resize(kBaseBytes + 16 + kInvariantCrcBytes);
  const auto packet = parse_packet(octets);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->headers.traits().operation, Operation::congestion);
  EXPECT_EQ(packet->payload.size(), 16u);
  EXPECT_EQ(name(packet->headers.base.opcode), "CNP");
}

PacketHeaders any_headers(Opcode opcode) {
  const auto word = [] { return *rc::gen::arbitrary<std::uint32_t>(); };
  const auto wide = [] { return *rc::gen::arbitrary<std::uint64_t>(); };
  Bytes octets(kMostHeaderBytes);
  for (std::size_t i = 0; i < octets.size(); i += 4) store32(octets.data() + i, word());
  PacketHeaders headers;
  headers.base = decode_base(octets.data());
  headers.base.opcode = opcode;
  headers.base.version = 0;
  const OpcodeTraits& kind = traits(opcode);
  if (kind.datagram) headers.datagram = {word(), word() & 0xffffff};
  if (kind.reth) headers.rdma = {wide(), word(), word()};
  if (kind.atomic) headers.atomic = {wide(), word(), wide(), wide()};
  if (kind.aeth) headers.ack = {static_cast<std::uint8_t>(word()), word() & 0xffffff};
  if (kind.atomic_ack) headers.original = wide();
  if (kind.immediate) headers.immediate = word();
  if (kind.invalidate) headers.invalidate = word();
  return headers;
}

RC_GTEST_PROP(Packet, RoundTrips, ()) {
  PacketHeaders headers = any_headers(*rc::gen::elementOf(known_opcodes()));
  const auto drawn = *rc::gen::arbitrary<std::vector<std::uint8_t>>();
  Bytes payload(drawn.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) payload[i] = std::byte{drawn[i]};
  const Bytes octets = whole_packet(headers, payload, any_crc(), 9);
  RC_ASSERT(any_crc().check(octets, 9));
  const auto packet = parse_packet(octets);
  RC_ASSERT(packet.has_value());
  headers.base.pad = pad_bytes(payload.size());
  RC_ASSERT(packet->headers == headers);
  RC_ASSERT(to_hex(packet->payload) == to_hex(payload));
  RC_ASSERT(packet->pad.size() == pad_bytes(payload.size()));
  for (std::size_t size = 0; size < octets.size(); size += 4) {
    const auto cut = parse_packet(View(octets).first(size));
    const std::size_t least = headers.bytes() + headers.base.pad + kInvariantCrcBytes;
    RC_ASSERT(cut.has_value() == (size >= least));
  }
}

}  // namespace
}  // namespace steertag::rdma::infiniband
