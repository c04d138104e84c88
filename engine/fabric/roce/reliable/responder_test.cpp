// The responder against a peer whose packets are in the wrong order, or break a rule.
#include "fabric/testing/responder_fixture.h"

namespace steertag::fabric::roce {
namespace {

using testing::octets;
using testing::pattern;

using RoceResponderTest = ResponderFixture;

TEST_F(RoceResponderTest, AGapGivesOneNakUntilItIsRepaired) {
  for (int i = 0; i < 4; ++i) post(8);
  take(Opcode::send_only, 1);
  take(Opcode::send_only, 2);
  EXPECT_EQ(output.take_lines(), Lines{line("NAK: PSN sequence error", 0)});
  EXPECT_EQ(events, Lines{}) << "a message behind a gap was delivered";
  take(Opcode::send_only, 0);
  take(Opcode::send_only, 1);
  EXPECT_EQ(output.take_lines(), (Lines{line("ACK", 0), line("ACK", 1)}));
  take(Opcode::send_only, 3);
  EXPECT_EQ(output.take_lines(), Lines{line("NAK: PSN sequence error", 2)}) << "of the next gap";
}

TEST_F(RoceResponderTest, AGapIsReportedAlthoughItIsRepairedInTheSameTurn) {
  post(100);
  responder.take(request(Opcode::send_only, 1));
  responder.take(request(Opcode::send_only, 0));
  transmit();
  EXPECT_EQ(output.take_lines(), (Lines{line("NAK: PSN sequence error", 0), line("ACK", 0)}));
}

TEST_F(RoceResponderTest, OnceTheOwnerEndsARefusalHasNoNak) {
  const auto region = domain.allocate(8, {true, true});
  const RdmaHeader write = at(*region, 0, 8);
  region->invalidate();
  responder.end();
  take(Opcode::write_only, 0, pattern(8), write);
  EXPECT_EQ(output.take_lines(), Lines{});
  ASSERT_TRUE(refused) << "the owner does not know of it";
  EXPECT_EQ(refused->syndrome, kAccessError);
}

TEST_F(RoceResponderTest, ADuplicateIsAcknowledgedAgainAndNotDelivered) {
  post(8);
  post(8);
  take(Opcode::send_only, 0, octets("call"));
  take(Opcode::send_only, 1, octets("next"));
  take(Opcode::send_only, 0, octets("call"));
  EXPECT_EQ(output.take_lines(), (Lines{line("ACK", 0), line("ACK", 1), line("ACK", 1)}));
  EXPECT_EQ(events, (Lines{"Send 4 into 1", "Send 4 into 2"}));
}

TEST_F(RoceResponderTest, ASendWithoutAReceiveIsTakenWhenThePeerRepeatsIt) {
  take(Opcode::send_only, 0, octets("call"));
  take(Opcode::send_only, 1, octets("next"));
  EXPECT_EQ(output.take_lines(), Lines{line("RNR NAK", 0)});
  EXPECT_EQ(output.packets[0].packet.ack.syndrome & 31, limits.rnr_timer);
  post(8);
  take(Opcode::send_only, 0, octets("call"));
  EXPECT_EQ(output.take_lines(), Lines{line("ACK", 0)});
  EXPECT_EQ(events, Lines{"Send 4 into 1"});
}

TEST_F(RoceResponderTest, ASharedReceiveIsKeptForTheRepetition) {
  software::SharedReceives queue;
  int kept = 0;
  responder.receives().share(queue, [&] { ++kept; });
  take(Opcode::send_only, 0, octets("call"));
  EXPECT_EQ(output.take_lines(), Lines{line("RNR NAK", 0)});
  EXPECT_EQ(queue.waiting(), 1U);
  EXPECT_FALSE(responder.awaits_peer()) << "there is nothing yet that the peer keeps from others";
  Bytes room(8);
  queue.post(room, 7);
  EXPECT_EQ(kept, 1);
  EXPECT_EQ(queue.posted(), 0U) << "another connection may take it";
  EXPECT_TRUE(responder.awaits_peer());
  take(Opcode::send_only, 0, octets("call"));
  EXPECT_EQ(output.take_lines(), Lines{line("ACK", 0)});
  EXPECT_EQ(events, Lines{"Send 4 into 7"});
  EXPECT_FALSE(responder.awaits_peer());
  queue.post(room, 8);
  take(Opcode::send_first, 1, pattern(kMtu / 2));  // of another length than the path MTU
  responder.stop();
  EXPECT_EQ(queue.posted(), 1U);
}

TEST_F(RoceResponderTest, PacketsOfOneSendFillOneReceive) {
  post(600);
  post(600);
  const Bytes message = pattern(600);
  const auto part = [&](std::size_t from, std::size_t count) {
    return Bytes(message.begin() + static_cast<std::ptrdiff_t>(from),
                 message.begin() + static_cast<std::ptrdiff_t>(from + count));
  };
  take(Opcode::send_first, 0, part(0, kMtu));
  EXPECT_FALSE(responder.between_messages());
  take(Opcode::send_middle, 1, part(kMtu, kMtu));
  take(Opcode::send_last, 2, part(2 * kMtu, 88));
  EXPECT_TRUE(responder.between_messages());
  EXPECT_EQ(events, Lines{"Send 600 into 1"});
  EXPECT_TRUE(*buffers[0] == message) << "octets differ";
}

struct Broken {
  const char* what;
  Opcode opcode;
  std::size_t bytes;
};

TEST_F(RoceResponderTest, PacketsOutOfShapeAreInvalidRequests) {
  for (const Broken& each :
       {Broken{"Middle without First", Opcode::send_middle, kMtu},
        Broken{"Last without First", Opcode::write_last, 4},
        Broken{"First with less than the path MTU", Opcode::send_first, 4},
        Broken{"Only with more than the path MTU", Opcode::send_only, kMtu + 4},
        Broken{"atomic operation", Opcode::fetch_add, 0},
        Broken{"Write with Immediate", Opcode::write_only_immediate, 0},
        Broken{"Send with Immediate", Opcode::send_only_immediate, 4},
        Broken{"longer than its receive", Opcode::send_only, 9}}) {
    SCOPED_TRACE(each.what);
    testing::PacketLog log;
    Responder other{*this, log, domain, windows, splitter, limits};
    other.start({kFirst, kMtu, 2});
    Bytes buffer(8);
    other.receives().post(buffer, 1);
    refused.reset();
    const Bytes payload(each.bytes);
    Packet packet;
    packet.headers.base.opcode = each.opcode;
    packet.headers.base.psn = kFirst;
    packet.payload = payload;
    other.take(packet);
    EXPECT_EQ(log.take_lines(), Lines{line("NAK: invalid request", 0)});
    EXPECT_TRUE(refused);
    other.take(packet);
    EXPECT_EQ(log.take_lines(), Lines{}) << "a refused queue pair answers nothing";
  }
}

TEST_F(RoceResponderTest, ASendOfSeveralPacketsStaysInItsReceive) {
  post(kMtu + 8);
  take(Opcode::send_first, 0, Bytes(kMtu, std::byte{1}));
  take(Opcode::send_last, 1, Bytes(9, std::byte{1}));
  ASSERT_TRUE(refused) << "a Send of 265 octets into a receive of 264";
  EXPECT_EQ(refused->syndrome, kInvalidRequest) << refused->detail;
  EXPECT_EQ(events, Lines{});
  EXPECT_EQ(buffers[0]->back(), std::byte{0}) << "an octet of the refused packet was placed";
}

TEST_F(RoceResponderTest, APacketIsNoLargerThanThePathMtuEvenIfItsReceiveIs) {
  post(600);
  take(Opcode::send_only, 0, Bytes(kMtu + 4));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->syndrome, kInvalidRequest) << refused->detail;
  EXPECT_EQ(events, Lines{});
}

TEST_F(RoceResponderTest, ALastPacketHasAnOctet) {
  post(600);
  take(Opcode::send_first, 0, Bytes(kMtu));
  take(Opcode::send_last, 1);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->syndrome, kInvalidRequest) << refused->detail;
}

TEST_F(RoceResponderTest, AMessageInsideAnotherIsAnInvalidRequest) {
  post(600);
  take(Opcode::send_first, 0, Bytes(kMtu));
  take(Opcode::write_middle, 1, Bytes(kMtu));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->syndrome, kInvalidRequest) << refused->detail;
}

TEST_F(RoceResponderTest, AWriteThatLeavesItsRegionIsRefusedAtItsStart) {
  auto region = domain.allocate(1000, {false, true});
  take(Opcode::write_first, 0, Bytes(kMtu, std::byte{1}), at(*region, 0, 1001));
  EXPECT_EQ(output.take_lines(), Lines{line("NAK: remote access error", 0)});
  EXPECT_EQ(events, Lines{"Write 1001 refused"});
  EXPECT_TRUE(untouched(*region));
}

TEST_F(RoceResponderTest, AWriteHasTheOctetsThatItAnnounced) {
  auto region = domain.allocate(1000, {false, true});
  take(Opcode::write_first, 0, Bytes(kMtu, std::byte{1}), at(*region, 0, 300));
  take(Opcode::write_last, 1, Bytes(45, std::byte{1}));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->syndrome, kInvalidRequest) << refused->detail;
  EXPECT_EQ(region->bytes()[256], std::byte{0}) << "an octet of the refused packet was placed";
}

TEST_F(RoceResponderTest, AWriteHasNoFewerOctetsThanItAnnounced) {
  auto region = domain.allocate(1000, {false, true});
  take(Opcode::write_first, 0, Bytes(kMtu, std::byte{1}), at(*region, 0, 300));
  take(Opcode::write_last, 1, Bytes(43, std::byte{1}));
  ASSERT_TRUE(refused) << "299 octets of a Write of 300";
  EXPECT_EQ(refused->syndrome, kInvalidRequest) << refused->detail;
}

TEST_F(RoceResponderTest, AWriteHasALastPacketWhereItEnds) {
  auto region = domain.allocate(1000, {false, true});
  take(Opcode::write_first, 0, Bytes(kMtu, std::byte{1}), at(*region, 0, 300));
  take(Opcode::write_middle, 1, Bytes(kMtu, std::byte{1}));
  ASSERT_TRUE(refused) << "512 octets of a Write of 300";
  EXPECT_EQ(refused->syndrome, kInvalidRequest) << refused->detail;
  EXPECT_EQ(region->bytes()[kMtu], std::byte{0}) << "an octet of the refused packet was placed";
}

TEST_F(RoceResponderTest, AddressesDoNotWrap) {
  auto region = domain.allocate(64, {true, true}, 0x1000);
  take(Opcode::write_only, 0, Bytes(32, std::byte{1}),
       {~std::uint64_t{0} - 15, region->stag(), 32});
  EXPECT_EQ(output.take_lines(), Lines{line("NAK: remote access error", 0)});
  EXPECT_TRUE(untouched(*region));
}

TEST_F(RoceResponderTest, AWriteEndsWhenItsRegionIsClosed) {
  auto region = domain.allocate(1000, {false, true});
  const RdmaHeader header = at(*region, 0, 512);
  take(Opcode::write_first, 0, Bytes(kMtu, std::byte{1}), header);
  region->invalidate();
  take(Opcode::write_last, 1, Bytes(kMtu, std::byte{1}));
  EXPECT_EQ(output.take_lines(), (Lines{line("ACK", 0), line("NAK: remote access error", 1)}));
  EXPECT_EQ(region->bytes()[kMtu], std::byte{0});
}

TEST_F(RoceResponderTest, AWindowIsOpenToItsOwnConnection) {
  SoftwareRegion region(domain, 64, {}, {});
  Windows others;
  region.open_window(windows, {true, true}, 64);
  take(Opcode::write_only, 0, Bytes(8, std::byte{1}), at(region, 0, 8));
  EXPECT_FALSE(refused);
  region.open_window(others, {true, true}, 64);
  take(Opcode::write_only, 1, Bytes(8, std::byte{2}), at(region, 0, 8));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->syndrome, kAccessError) << refused->detail;
  EXPECT_EQ(region.bytes()[0], std::byte{1});
}

TEST_F(RoceResponderTest, InvalidatingWhatIsNotThePeersIsRefused) {
  SoftwareDomain foreign(table);
  auto region = foreign.allocate(64, {true, true});
  post(8);
  take(Opcode::send_only_invalidate, 0, {}, {}, region->stag());
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->syndrome, kAccessError) << refused->detail;
  EXPECT_TRUE(region->valid());
  EXPECT_EQ(events, Lines{});
}

TEST_F(RoceResponderTest, InvalidatingAWindowOfAnotherConnectionIsRefused) {
  SoftwareRegion region(domain, 64, {}, {});
  Windows others;
  region.open_window(others, {true, true}, 64);
  post(8);
  take(Opcode::send_only_invalidate, 0, {}, {}, region.stag());
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->syndrome, kAccessError) << refused->detail;
  EXPECT_EQ(events, Lines{});
}

TEST_F(RoceResponderTest, InvalidatingMemoryWithoutRemoteRightsIsRefused) {
  auto region = domain.allocate(64, {false, false});
  post(8);
  take(Opcode::send_only_invalidate, 0, {}, {}, region->stag());
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->syndrome, kAccessError) << refused->detail;
  EXPECT_EQ(events, Lines{});
}

}  // namespace
}  // namespace steertag::fabric::roce
