// The fault hooks: each alters one packet as stated, and what is altered can be repaired or not.
#include <gtest/gtest.h>

#include <algorithm>

#include "fabric/roce/packets/formats.h"
#include "fabric/testing/endpoint.h"

namespace steertag::fabric::roce {
namespace {

using testing::octets;
using testing::Pair;
using testing::pattern;

constexpr std::size_t kPayload = 20;

/// A packet of a Send, with its CRC, at the front of a slot.
struct Slot {
  Slot() {
    PacketHeaders headers;
    headers.base.opcode = Opcode::send_only;
    headers.base.psn = 7;
    wire::encode(headers, octets.data());
    bytes = headers.bytes() + kPayload + wire::kInvariantCrcBytes;
    bend({});
  }
  void bend(const BentPacket& bent) { bytes = roce::bend(bent, octets, bytes, crc); }
  View packet() const { return View(octets).first(bytes); }

  wire::InvariantCrc crc{wire::Ipv4Route{}};
  Bytes octets = Bytes(128);
  std::size_t bytes = 0;
};

TEST(BendTest, NothingIsAlteredWithoutAnAlteration) {
  Slot slot;
  const Bytes before(slot.packet().begin(), slot.packet().end());
  slot.bend({});
  EXPECT_TRUE(std::ranges::equal(slot.packet(), before));
  EXPECT_TRUE(slot.crc.check(slot.packet()));
}

TEST(BendTest, CrcIsWrongOnlyIfAskedFor) {
  Slot slot;
  BentPacket bent;
  bent.bad_crc = true;
  slot.bend(bent);
  EXPECT_FALSE(slot.crc.check(slot.packet()));
}

TEST(BendTest, PsnMovesModulo24Bits) {
  Slot slot;
  BentPacket bent;
  bent.psn_offset = -8;
  slot.bend(bent);
  EXPECT_EQ(wire::decode_base(slot.octets.data()).psn, 0xffffffU);
  bent.psn_offset = 2;
  slot.bend(bent);
  EXPECT_EQ(wire::decode_base(slot.octets.data()).psn, 1U);
  EXPECT_TRUE(slot.crc.check(slot.packet()));
}

TEST(BendTest, PatchesReplaceAndAppend) {
  Slot slot;
  const std::size_t before = slot.bytes;
  const std::size_t end = before - wire::kInvariantCrcBytes;
  BentPacket bent;
  bent.patches = {{0, octets("x")}, {end, octets("tail")}};
  slot.bend(bent);
  EXPECT_EQ(slot.bytes, before + 4);
  EXPECT_EQ(slot.octets[0], std::byte{'x'});
  EXPECT_EQ(slot.octets[end], std::byte{'t'});
  EXPECT_TRUE(slot.crc.check(slot.packet()));
}

TEST(BendTest, WhatDoesNotFitStaysAway) {
  Slot slot;
  const Bytes before(slot.packet().begin(), slot.packet().end());
  BentPacket bent;
  bent.patches = {{slot.bytes, octets("behind a hole")}, {0, Bytes(slot.octets.size())}};
  slot.bend(bent);
  EXPECT_TRUE(std::ranges::equal(slot.packet(), before));
}

TEST(BendTest, ExtendedHeadersAreExchangedInFrontOfThePayload) {
  Slot slot;
  const std::size_t before = slot.bytes;
  BentPacket response;
  response.patches = {{0, Bytes{static_cast<std::byte>(Opcode::read_response_only)}},
                      {wire::kBaseBytes, octets("ack payload")}};
  slot.bend(response);
  BentPacket bent;
  bent.extended_headers = Bytes{};
  slot.bend(bent);
  EXPECT_EQ(slot.bytes, before - wire::kAckBytes);
  EXPECT_EQ(slot.octets[wire::kBaseBytes], std::byte{'p'});
  EXPECT_TRUE(slot.crc.check(slot.packet()));
  bent.extended_headers = octets("twice as");
  bent.patches = {{0, Bytes{static_cast<std::byte>(Opcode::read_response_middle)}}};
  slot.bend(bent);
  EXPECT_EQ(slot.bytes, before) << "the header that was there has gone";
  EXPECT_EQ(slot.octets[wire::kBaseBytes], std::byte{'t'});
  EXPECT_TRUE(slot.crc.check(slot.packet()));
}

TEST(BendTest, ExtendedHeadersThatDoNotFitStayAway) {
  Slot slot;
  const Bytes before(slot.packet().begin(), slot.packet().end());
  BentPacket bent;
  bent.extended_headers = Bytes(slot.octets.size() - slot.bytes + 1);
  slot.bend(bent);
  EXPECT_TRUE(std::ranges::equal(slot.packet(), before));
}

TEST(BendTest, CutPacketsHaveACrcOfWhatIsLeft) {
  Slot slot;
  BentPacket bent;
  bent.cut = 14;
  slot.bend(bent);
  EXPECT_EQ(slot.bytes, 14 + wire::kInvariantCrcBytes);
  EXPECT_TRUE(slot.crc.check(slot.packet()));
  bent.cut = 3;  // no base header
  slot.bend(bent);
  EXPECT_EQ(slot.bytes, 3 + wire::kInvariantCrcBytes);
}

class BentPacketTest : public ::testing::Test {
 protected:
  void up() {
    ASSERT_NO_FATAL_FAILURE(pair.connect());
    ASSERT_TRUE(pair.server);
    pair.post_receives(4, 64);
  }
  static Fault fault(BentPacket bent) {
    Fault made;
    made.packet = std::make_shared<const BentPacket>(std::move(bent));
    return made;
  }
  void send(BentPacket bent) {
    const Fault altered = fault(std::move(bent));
    const View part(message);
    ASSERT_TRUE(pair.client->send({&part, 1}, 1, {}, &altered));
  }
  /// Sends of the client, each with the PSN that it had.
  std::size_t sends() const {
    std::size_t count = 0;
    for (const auto& [sender, datagram] : pair.client_bytes.datagrams.datagrams()) {
      const auto opcode = wire::decode_base(datagram.data()).opcode;
      count += sender == trace::Role::client && opcode == Opcode::send_only ? 1 : 0;
    }
    return count;
  }
  const Bytes message = pattern(kPayload);
  Pair pair{testing::roce_factory()};
};

TEST_F(BentPacketTest, WhatIsDroppedIsRepeatedAsItShouldBe) {
  ASSERT_NO_FATAL_FAILURE(up());
  BentPacket ahead;
  ahead.psn_offset = 5;
  BentPacket damaged;
  damaged.bad_crc = true;
  BentPacket foreign;
  foreign.patches = {{2, octets("xx")}};
  BentPacket lost;
  lost.copies = 0;
  std::size_t received = 0;
  for (const BentPacket& bent : {ahead, damaged, foreign, lost}) {
    ASSERT_NO_FATAL_FAILURE(send(bent));
    ++received;
    ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.completed.size() == received; }));
    ASSERT_EQ(pair.server_notices.received.size(), received);
    EXPECT_EQ(pair.server_notices.received.back().bytes, message);
  }
  EXPECT_EQ(std::ranges::count(pair.client_events.lines, "client Send 20"), 4);
  EXPECT_GE(sends(), 7U) << "one of the eight was never sent";
}

TEST_F(BentPacketTest, CopiesAreOneMessage) {
  ASSERT_NO_FATAL_FAILURE(up());
  BentPacket twice;
  twice.copies = 2;
  ASSERT_NO_FATAL_FAILURE(send(twice));
  ASSERT_NO_FATAL_FAILURE(send({}));
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.completed.size() == 2; }));
  EXPECT_EQ(pair.server_notices.received.size(), 2U);
}

TEST_F(BentPacketTest, AnOpcodeOutOfOrderEndsTheConnection) {
  ASSERT_NO_FATAL_FAILURE(up());
  BentPacket last;
  last.patches = {{0, Bytes{static_cast<std::byte>(Opcode::send_last)}}};
  ASSERT_NO_FATAL_FAILURE(send(last));
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_EQ(pair.client_notices.closed->code, Errc::peer_terminated);
  EXPECT_EQ(pair.server_notices.closed->code, Errc::protocol_error);
  EXPECT_TRUE(pair.server_notices.received.empty());
}

TEST_F(BentPacketTest, ARequestForAForeignServiceIsRejected) {
  BentPacket request;
  request.patches = {{12 + 8 + 24 + 8, Bytes(8)}};
  request.every_time = true;
  pair.client_options.bent_startup = std::make_shared<const BentPacket>(request);
  ASSERT_NO_FATAL_FAILURE(pair.connect());
  ASSERT_TRUE(pair.client_notices.refused);
  EXPECT_NE(pair.client_notices.refused->detail.find("no listener"), std::string::npos)
      << pair.client_notices.refused->message();
}

TEST_F(BentPacketTest, TheSecondMessageOfTheInitiatorIsItsReadyToUse) {
  BentPacket lost;
  lost.index = 1;
  lost.copies = 0;
  pair.client_options.bent_startup = std::make_shared<const BentPacket>(lost);
  ASSERT_NO_FATAL_FAILURE(pair.connect());
  const auto all = pair.server_bytes.datagrams.datagrams();
  const auto replies = std::ranges::count_if(
      all, [](const auto& each) { return each.first == trace::Role::server; });
  EXPECT_EQ(replies, 2) << "the REP, and again for the ReadyToUse that was lost";
}

class BentResponseTest : public ::testing::Test {
 protected:
  /// Bends the server's responses, and reads `bytes` of it.
  void read(const BentPacket& bent, std::uint32_t bytes) {
    pair.server_options.bent_response = std::make_shared<const BentPacket>(bent);
    ASSERT_NO_FATAL_FAILURE(pair.connect());
    ASSERT_TRUE(pair.server);
    source = pair.server_domain->allocate(bytes, {true, false});
    std::ranges::fill(source->bytes(), std::byte{1});
    sink = pair.client_domain->allocate(bytes, {});
    ASSERT_TRUE(pair.client->rdma_read(*sink, 0, bytes, source->stag(), source->base(), 1));
    ASSERT_TRUE(pair.poll_until(
        [&] { return !pair.client_notices.completed.empty() || pair.client_notices.closed; }));
  }
  static BentPacket as(Opcode opcode, std::uint32_t index = 0) {
    BentPacket bent;
    bent.index = index;
    bent.patches = {{0, Bytes{static_cast<std::byte>(opcode)}}};
    return bent;
  }

  Pair pair{testing::roce_factory()};
  std::unique_ptr<Region> source;
  std::unique_ptr<Region> sink;
};

TEST_F(BentResponseTest, AResponseWithAWrongOpcodeEndsTheConnection) {
  ASSERT_NO_FATAL_FAILURE(read(as(Opcode::read_response_last), kPayload));
  ASSERT_TRUE(pair.client_notices.closed);
  EXPECT_EQ(pair.client_notices.closed->code, Errc::protocol_error)
      << pair.client_notices.closed->detail;
  EXPECT_EQ(sink->bytes()[0], std::byte{0});
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_EQ(pair.server_notices.closed->code, Errc::peer_closed) << "it is no NAK";
}

TEST_F(BentResponseTest, AResponseThatIsLostComesAgain) {
  BentPacket lost;
  lost.copies = 0;
  ASSERT_NO_FATAL_FAILURE(read(lost, kPayload));
  EXPECT_FALSE(pair.client_notices.closed);
  EXPECT_EQ(sink->bytes()[0], std::byte{1});
}

TEST_F(BentResponseTest, TheIndexIsThatOfAPacketOfTheResponse) {
  ASSERT_NO_FATAL_FAILURE(read(as(Opcode::read_response_only, 1), 3 * 4096));
  ASSERT_TRUE(pair.client_notices.closed);
  EXPECT_EQ(sink->bytes()[0], std::byte{1});
  EXPECT_EQ(sink->bytes()[4096], std::byte{0});
}

TEST_F(BentPacketTest, APacketOfTheOwnerIsOneMore) {
  ASSERT_NO_FATAL_FAILURE(up());
  ASSERT_NO_FATAL_FAILURE(send({}));
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.completed.size() == 1; }));
  ASSERT_TRUE(pair.client->send_raw(pattern(wire::kBaseBytes)));
  ASSERT_NO_FATAL_FAILURE(send({}));
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.completed.size() == 2; }));
  const auto all = pair.client_bytes.datagrams.datagrams();
  EXPECT_TRUE(std::ranges::any_of(all, [](const auto& each) {
    return each.second.size() == wire::kBaseBytes + wire::kInvariantCrcBytes;
  }));
}

}  // namespace
}  // namespace steertag::fabric::roce
