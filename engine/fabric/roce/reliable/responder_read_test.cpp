// RDMA Reads of the peer: their order, their repetition, and their source.
#include "fabric/testing/responder_fixture.h"

namespace steertag::fabric::roce {
namespace {

using testing::octets;
using testing::pattern;

using RoceResponderReadTest = ResponderFixture;

TEST_F(RoceResponderReadTest, AReadTakesAsManyPsnsAsItsResponse) {
  auto region = domain.allocate(600, {true, false});
  post(8);
  take(Opcode::read_request, 0, {}, at(*region, 0, 600));
  EXPECT_EQ(output.take_lines(),
            (Lines{line("RDMA READ Response First", 0), line("RDMA READ Response Middle", 1),
                   line("RDMA READ Response Last", 2)}));
  take(Opcode::send_only, 3);
  EXPECT_EQ(output.take_lines(), Lines{line("ACK", 3)});
  EXPECT_EQ(events, (Lines{"Read 600", "Response 256 from 0", "Response 256 from 256",
                           "Response 88 from 512", "Send 0 into 1"}));
}

TEST_F(RoceResponderReadTest, ARepeatedReadIsAnsweredFromTheMiddleWithoutAnEvent) {
  auto region = domain.allocate(600, {true, false});
  std::ranges::copy(pattern(600), region->bytes().begin());
  take(Opcode::read_request, 0, {}, at(*region, 0, 600));
  output.take_lines();
  events.clear();
  take(Opcode::read_request, 1, {}, at(*region, kMtu, 344));
  EXPECT_EQ(output.take_lines(),
            (Lines{line("RDMA READ Response First", 1), line("RDMA READ Response Last", 2)}));
  EXPECT_EQ(events, Lines{});
  EXPECT_EQ(output.packets.back().payload,
            Bytes(region->bytes().begin() + 512, region->bytes().end()));
  take(Opcode::read_request, 1, {}, at(*region, 0, 600));
  EXPECT_EQ(output.take_lines(), Lines{}) << "it asks for more than the request that it repeats";
}

TEST_F(RoceResponderReadTest, ALateCopyOfAReadLeavesTheAnswersOfNewerOnes) {
  auto region = domain.allocate(600, {true, false});
  post(8);
  output.has_room = false;
  take(Opcode::read_request, 0, {}, at(*region, 0, 300));
  take(Opcode::read_request, 2, {}, at(*region, 0, 300));
  take(Opcode::send_only, 4);
  take(Opcode::read_request, 0, {}, at(*region, 0, 300));
  output.has_room = true;
  while (responder.transmit()) {
  }
  EXPECT_EQ(output.take_lines(),
            (Lines{line("RDMA READ Response First", 0), line("RDMA READ Response Last", 1),
                   line("RDMA READ Response First", 2), line("RDMA READ Response Last", 3),
                   line("ACK", 4)}));
}

TEST_F(RoceResponderReadTest, ARepeatedReadGoesBeforeTheReportOfAGap) {
  auto region = domain.allocate(600, {true, false});
  take(Opcode::read_request, 0, {}, at(*region, 0, 4));
  output.take_lines();
  output.has_room = false;
  take(Opcode::send_only, 2);
  take(Opcode::read_request, 0, {}, at(*region, 0, 4));
  output.has_room = true;
  while (responder.transmit()) {
  }
  EXPECT_EQ(output.take_lines(),
            (Lines{line("RDMA READ Response Only", 0), line("NAK: PSN sequence error", 1)}));
}

TEST_F(RoceResponderReadTest, ARepeatedReadStartsItsAnswerAgain) {
  auto region = domain.allocate(600, {true, false});
  limits.responses_a_turn = 1;
  Packet packet;
  packet.headers.base.opcode = Opcode::read_request;
  packet.headers.base.psn = psn(0);
  packet.headers.rdma = at(*region, 0, 600);
  responder.take(packet);
  EXPECT_TRUE(responder.transmit());
  responder.take(packet);
  while (responder.transmit()) {
  }
  EXPECT_EQ(output.take_lines(),
            (Lines{line("RDMA READ Response First", 0), line("RDMA READ Response First", 0),
                   line("RDMA READ Response Middle", 1), line("RDMA READ Response Last", 2)}));
}

TEST_F(RoceResponderReadTest, ARepeatedReadWithoutItsFirstAnswerIsRefusedOnceItsSourceIsClosed) {
  expect_refused_once_the_source_is_closed(2);
}

TEST_F(RoceResponderReadTest, AReadBeyondTheLimitIsAnInvalidRequest) {
  auto region = domain.allocate(600, {true, false});
  output.has_room = false;  // so that no response leaves
  for (std::uint32_t i = 0; i < 2; ++i) {
    take(Opcode::read_request, i, {}, at(*region, 0, 4));
    EXPECT_FALSE(refused);
  }
  take(Opcode::read_request, 2, {}, at(*region, 0, 4));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->syndrome, kInvalidRequest) << refused->detail;
}

TEST_F(RoceResponderReadTest, RepeatedReadsAreNotKeptWithoutLimit) {
  auto region = domain.allocate(600, {true, false});
  for (std::uint32_t i = 0; i < 40; ++i) {
    take(Opcode::read_request, i, {}, at(*region, 0, 4));
  }
  output.take_lines();
  output.has_room = false;
  for (std::uint32_t i = 0; i < 40; ++i) {
    take(Opcode::read_request, i, {}, at(*region, 0, 4));
  }
  output.has_room = true;
  while (responder.transmit()) {
  }
  EXPECT_LE(output.take_lines().size(), 8U);
}

TEST_F(RoceResponderReadTest, OneAcknowledgementWaitsHoweverOftenThePeerRepeats) {
  post(8);
  take(Opcode::send_only, 0);
  output.take_lines();
  output.has_room = false;
  for (int i = 0; i < 40; ++i) {
    take(Opcode::send_only, 0);
    take(Opcode::send_only, 1);  // no receive is posted
  }
  take(Opcode::send_only, 0);
  output.has_room = true;
  responder.transmit();
  EXPECT_EQ(output.take_lines(), Lines{line("RNR NAK", 1)}) << "it acknowledges PSN 0, too";
}

TEST_F(RoceResponderReadTest, AResponseStopsWhenItsSourceIsClosed) {
  expect_refused_once_the_source_is_closed(1);
}

TEST_F(RoceResponderReadTest, ARepeatedReadAsksForTheMemoryOfTheFirst) {
  auto region = domain.allocate(600, {true, false});
  auto other = domain.allocate(600, {true, false});
  take(Opcode::read_request, 0, {}, at(*region, 0, 600));
  output.take_lines();
  take(Opcode::read_request, 1, {}, at(*region, 256, 344));
  EXPECT_EQ(output.take_lines().size(), 2U) << "the rest of it";
  const RdmaHeader others[] = {at(*other, 0, 600), at(*region, 256, 300), at(*region, 0, 601)};
  for (const RdmaHeader& read : others) {
    take(Opcode::read_request, 0, {}, read);
    EXPECT_EQ(output.take_lines(), Lines{}) << read.length << " octets at " << read.address;
  }
}

TEST_F(RoceResponderReadTest, AReadInThePlaceOfASendHasNoResponse) {
  auto region = domain.allocate(600, {true, false});
  post(8);
  take(Opcode::send_only, 0);
  output.take_lines();
  take(Opcode::read_request, 0, {}, at(*region, 0, 100));
  EXPECT_EQ(output.take_lines(), Lines{});
}

TEST_F(RoceResponderReadTest, AReadIsNoLongerThanAMessage) {
  RdmaHeader read;
  read.length = (1U << 31) + 1;
  take(Opcode::read_request, 0, {}, read);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->syndrome, kInvalidRequest);
}

TEST_F(RoceResponderReadTest, ByPolicyASendBehindHalfAWriteStaysInItsReceive) {
  Policy policy;
  policy.checks_opcodes = false;
  Responder lax{*this, output, domain, windows, splitter, limits, policy};
  lax.start({kFirst, kMtu, 2});
  Bytes buffer(8);
  lax.receives().post(buffer, 1);
  auto region = domain.allocate(600, {false, true});
  const auto give = [&](Opcode opcode, std::uint32_t number, const Bytes& payload) {
    Packet packet = request(opcode, number);
    packet.headers.rdma = at(*region, 0, 600);
    packet.payload = payload;
    lax.take(packet);
  };
  const Bytes whole(kMtu);
  give(Opcode::write_first, 0, whole);
  give(Opcode::send_last, 1, Bytes(8, std::byte{1}));
  EXPECT_EQ(buffer, Bytes(8, std::byte{1}));
}

}  // namespace
}  // namespace steertag::fabric::roce
