// The responder against a peer whose packets are in the wrong order, or break a rule.
#include "fabric/roce/reliable/responder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fabric/testing/endpoint.h"
#include "fabric/testing/packet_log.h"

namespace steertag::fabric::roce {
namespace {

using testing::octets;
using testing::PacketLog;
using testing::pattern;
using Lines = std::vector<std::string>;

constexpr std::uint32_t kMtu = 256;
constexpr std::uint32_t kFirst = 0xfffffe;  // PSNs wrap soon

class RoceResponderTest : public ::testing::Test, protected ResponderOwner {
 protected:
  RoceResponderTest() { responder.start({kFirst, kMtu, 2}); }

  void on_message(const PostedReceive& receive, MutableView bytes,
                  std::optional<std::uint32_t> invalidated) override {
    events.push_back("Send " + std::to_string(bytes.size()) + " into " +
                     std::to_string(receive.id) + (invalidated ? " invalidating" : ""));
  }
  void on_write(std::uint32_t /*key*/, std::uint64_t /*address*/, std::uint64_t length,
                View payload) override {
    events.push_back("Write " + std::to_string(length) +
                     (payload.size() < length ? " refused" : ""));
  }
  void on_read(const RdmaHeader& request) override {
    events.push_back("Read " + std::to_string(request.length));
  }
  void on_read_answered(const RdmaHeader& /*request*/, std::uint64_t offset,
                        std::uint64_t length) override {
    events.push_back("Response " + std::to_string(length) + " from " + std::to_string(offset));
  }
  void on_refused_request(Refusal refusal, std::uint32_t psn) override {
    refused = refusal;
    refused_psn = psn;
  }
  void on_source_closed(std::uint32_t psn) override { refused_psn = psn; }

  static std::uint32_t psn(std::uint32_t number) { return psn_after(kFirst, number); }
  static Packet request(Opcode opcode, std::uint32_t number) {
    Packet packet;
    packet.headers.base.opcode = opcode;
    packet.headers.base.psn = psn(number);
    packet.headers.base.acknowledge = true;
    return packet;
  }
  void transmit() {
    while (responder.transmit()) {
    }
  }
  void take(Opcode opcode, std::uint32_t number, const Bytes& payload = {}, RdmaHeader rdma = {},
            std::uint32_t invalidate = 0) {
    Packet packet = request(opcode, number);
    packet.headers.rdma = rdma;
    packet.headers.invalidate = invalidate;
    packet.payload = payload;
    responder.take(packet);
    transmit();
  }
  static std::string line(const std::string& what, std::uint32_t number) {
    return what + " " + std::to_string(psn(number));
  }
  void post(std::size_t size) {
    buffers.push_back(std::make_unique<Bytes>(size));
    responder.post(*buffers.back(), buffers.size());
  }
  RdmaHeader at(Region& region, std::uint64_t offset, std::uint32_t length) {
    return {region.base() + offset, region.stag(), length};
  }
  /// A READ is requested so often before any of its response leaves, and then its source is closed.
  void expect_refused_once_the_source_is_closed(int requests) {
    auto region = domain.allocate(600, {true, false});
    output.has_room = false;
    for (int i = 0; i < requests; ++i) {
      take(Opcode::read_request, 0, {}, at(*region, 0, 600));
    }
    region->invalidate();
    output.has_room = true;
    responder.transmit();
    EXPECT_EQ(output.take_lines(), Lines{line("NAK: remote access error", 0)});
    EXPECT_EQ(refused_psn, psn(0));
  }
  static bool untouched(Region& region) {
    return std::ranges::all_of(region.bytes(),
                               [](std::byte octet) { return octet == std::byte{0}; });
  }

  std::uint64_t drawn = 0;
  StagTable table{[this] { return ++drawn * 0x9e3779b97f4a7c15; }};
  SoftwareDomain domain{table};
  Windows windows;
  PacketLog output;
  Limits limits;
  SendSplitter splitter;
  Responder responder{*this, output, domain, windows, splitter, limits};
  std::vector<std::unique_ptr<Bytes>> buffers;
  Lines events;
  std::optional<Refusal> refused;
  std::uint32_t refused_psn = 0;
};

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
    PacketLog log;
    Responder other{*this, log, domain, windows, splitter, limits};
    other.start({kFirst, kMtu, 2});
    Bytes buffer(8);
    other.post(buffer, 1);
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

TEST_F(RoceResponderTest, AReadTakesAsManyPsnsAsItsResponse) {
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

TEST_F(RoceResponderTest, ARepeatedReadIsAnsweredFromTheMiddleWithoutAnEvent) {
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

TEST_F(RoceResponderTest, ALateCopyOfAReadLeavesTheAnswersOfNewerOnes) {
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

TEST_F(RoceResponderTest, ARepeatedReadGoesBeforeTheReportOfAGap) {
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

TEST_F(RoceResponderTest, ARepeatedReadStartsItsAnswerAgain) {
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

TEST_F(RoceResponderTest, ARepeatedReadWithoutItsFirstAnswerIsRefusedOnceItsSourceIsClosed) {
  expect_refused_once_the_source_is_closed(2);
}

TEST_F(RoceResponderTest, AReadBeyondTheLimitIsAnInvalidRequest) {
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

TEST_F(RoceResponderTest, RepeatedReadsAreNotKeptWithoutLimit) {
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

TEST_F(RoceResponderTest, OneAcknowledgementWaitsHoweverOftenThePeerRepeats) {
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

TEST_F(RoceResponderTest, OneAcknowledgementLeavesWhereTheReadBetweenTwoWentBeforeThem) {
  for (int i = 0; i < 2; ++i) post(8);
  auto region = domain.allocate(600, {true, false});
  output.has_room = false;
  take(Opcode::send_only, 0);
  take(Opcode::read_request, 1, {}, at(*region, 0, 8));
  take(Opcode::send_only, 2);
  take(Opcode::read_request, 0, {}, at(*region, 0, kMtu + 8));  // of the Send's PSN, too
  output.has_room = true;
  transmit();
  EXPECT_EQ(output.take_lines(), (Lines{line("RDMA READ Response First", 0),
                                        line("RDMA READ Response Last", 1), line("ACK", 2)}));
}

TEST_F(RoceResponderTest, AResponseStopsWhenItsSourceIsClosed) {
  expect_refused_once_the_source_is_closed(1);
}

}  // namespace
}  // namespace steertag::fabric::roce
