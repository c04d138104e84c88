// Captures that begin in the middle of a connection: how FPDUs are found there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "capture/iwarp/mpa_sync.h"
#include "capture/iwarp/testing.h"

namespace steertag::capture::iwarp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using namespace testing;

const std::string kJoined = "loss: the capture begins in the middle of the connection";

TEST(FpduAlignment, AnFpduThatEndsWithTheSegmentIsOne) {
  EXPECT_EQ(alignment_of(send(1, call(1)), 0), Alignment::fpdu);
  EXPECT_EQ(alignment_of(write(0, octets(100)), 0), Alignment::fpdu);
  EXPECT_EQ(alignment_of(read_request(7, 4096), 0), Alignment::fpdu);
  EXPECT_EQ(alignment_of(terminate(), 0), Alignment::fpdu);
  EXPECT_EQ(alignment_of(part(write(0, octets(100)), 0, 20), 100), Alignment::fpdu) << "cut";
}

TEST(FpduAlignment, AnFpduInFrontOfAnotherIsOne) {
  EXPECT_EQ(alignment_of(write(0, octets(100)) + send(1, call(1)), 0), Alignment::fpdu);
  EXPECT_EQ(alignment_of(write(0, octets(100)) + octets(30), 0), Alignment::none);
  EXPECT_EQ(alignment_of(send(1, call(1)) + octets(30), 0), Alignment::none);
}

TEST(FpduAlignment, OfATaggedFpduMoreMustBeThere) {
  EXPECT_EQ(alignment_of(part(write(0, octets(100)), 0, 20), 500), Alignment::none);
  EXPECT_EQ(alignment_of(write(0, octets(100)) + octets(10), 0), Alignment::none);
  EXPECT_EQ(alignment_of(part(send(1, call(1)), 0, 20), 500), Alignment::fpdu);
}

TEST(FpduAlignment, ARightCrcProvesIt) {
  const Bytes written = fpdu(tagged(Opcode::rdma_write, 1, 2), octets(9), Crc::right);
  EXPECT_EQ(alignment_of(written + octets(30), 0), Alignment::fpdu);
}

TEST(FpduAlignment, ATaggedFpduThatGoesOnIsDoubtful) {
  EXPECT_EQ(alignment_of(part(write(0, octets(100)), 0, 50), 0), Alignment::doubtful);
  EXPECT_EQ(alignment_of(part(send(1, call(1)), 0, 50), 0), Alignment::fpdu);
}

TEST(FpduAlignment, EveryBitOfTheHeaderCounts) {
  const Bytes whole = send(0x100, call(1));
  for (std::size_t octet = 2; octet < 12; ++octet) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bent = whole;
      bent[octet] ^= std::byte(1 << bit);
      const bool last = octet == 2 && bit == 6;      // any segment may be the last
      const bool send_kind = octet == 3 && bit < 3;  // 3, 4, 5, 6 are Sends
      const bool fpdu_still = last || (send_kind && bit != 2);
      if (send_kind) continue;
      EXPECT_EQ(alignment_of(bent, 0) == Alignment::fpdu, fpdu_still) << octet << '.' << bit;
    }
  }
  EXPECT_EQ(alignment_of({}, 0), Alignment::none);
  EXPECT_EQ(alignment_of(Bytes(1460), 0), Alignment::none) << "zeros";
}

RC_GTEST_PROP(FpduAlignmentProperty, AnyOctetsAreNone, ()) {
  const auto raw =
      *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>());
  Bytes some(raw.size());
  std::transform(raw.begin(), raw.end(), some.begin(), [](auto octet) { return std::byte(octet); });
  RC_ASSERT(alignment_of(some, 0) == Alignment::none);
}

TEST(TcpJoined, FromEveryPacketOn) {
  const Packets packets = conversation();
  const Lines whole = events(reported(packets));
  for (std::size_t first = 4; first < packets.size(); ++first) {
    const Packets rest(packets.begin() + std::ptrdiff_t(first), packets.end());
    const Lines lines = reported(rest);
    if (events(lines).empty()) continue;
    EXPECT_NE(lines.front().find("loss: "), std::string::npos) << "from frame " << first + 1;
    auto next = whole.begin();
    for (const std::string& line : events(lines)) {
      next = std::find(next, whole.end(), line);
      ASSERT_NE(next, whole.end()) << line << "; from frame " << first + 1;
      ++next;
    }
    // All of the last message and everything after it are present.
    EXPECT_EQ(events(lines).back(), whole.back());
    if (first >= 5 && first <= 10) {
      EXPECT_GE(events(lines).size(), 7u) << "from frame " << first + 1;
    }
  }
}

TEST(TcpJoined, TellsFirstThatItIs) {
  Script script;
  script.startups().client(send(1, call(1))).server(send(1, reply(1))).client(send(2, call(2)));
  const Packets packets(script.packets.begin() + 5, script.packets.end());
  EXPECT_THAT(reported(packets),
              ElementsAre("6 client " + kJoined, "6 server " + kJoined,
                          StartsWith("6 client send 56 octets [12345601"),
                          StartsWith("7 server send"), StartsWith("8 client send"), "0 end"));
  EXPECT_THAT(reported(packets, {50000, 4711}), IsEmpty()) << "on another port";
  EXPECT_EQ(reported(packets, {50000, 4711}, {{4711}}), reported(packets))
      << "on a port that was named";
}

TEST(TcpJoined, InsideAMessageBeginsWithTheNext) {
  const Bytes written = write(0, octets(3000));
  Script script;
  script.startups();
  script.server(part(written, 0, 1000)).server(part(written, 1000, 2000));
  script.server(part(written, 2000, written.size())).server(send(1, reply(1)));
  const Packets packets(script.packets.begin() + 6, script.packets.end());
  EXPECT_THAT(reported(packets), ElementsAre("9 client " + kJoined, "8 server " + kJoined,
                                             StartsWith("9 server send"), "0 end"));
}

TEST(TcpJoined, AMessageWithoutItsBeginningIsNotTold) {
  const Bytes message = call(1) + octets(100);
  Script script;
  script.startups();
  script.client(fpdu(untagged(Opcode::send, 0, 9, 0, false), part(message, 0, 80)));
  script.client(fpdu(untagged(Opcode::send, 0, 9, 80), part(message, 80, 156)));
  script.client(send(10, call(2)));
  const Packets packets(script.packets.begin() + 6, script.packets.end());
  EXPECT_THAT(reported(packets),
              ElementsAre("7 client " + kJoined, "7 server " + kJoined,
                          StartsWith("8 client send 56 octets [12345602"), "0 end"));
}

TEST(TcpJoined, ADoubtfulBeginningIsProvedByTheNext) {
  const Bytes written = write(0, octets(3000));
  Script script;
  script.startups();
  script.server(part(written, 0, 2000));
  script.server(part(written, 2000, written.size()) + write(3000, octets(10)));
  script.server(send(1, reply(1)));
  const Packets packets(script.packets.begin() + 5, script.packets.end());
  EXPECT_THAT(reported(packets), ElementsAre("7 client " + kJoined, "7 server " + kJoined,
                                             StartsWith("7 server rdma_write 10 octets"),
                                             StartsWith("8 server send"), "0 end"));
}

TEST(TcpJoined, ADoubtfulBeginningThatWasNoneIsLeft) {
  // The payload of a Write looks like the start of another Write.
  const Bytes inner = part(write(0, octets(5000)), 0, 1500);
  const std::size_t rest = write(0, octets(5000)).size() - inner.size();
  for (const std::size_t more : {1u, 2u, 3u, 10u, 19u, 20u, 100u}) {
    Script script;
    script.startups().server(inner).server(octets(rest + more)).server(octets(1000));
    script.server(send(1, reply(1))).server(send(2, reply(2)));
    const Packets packets(script.packets.begin() + 5, script.packets.end());
    EXPECT_THAT(events(reported(packets)),
                ElementsAre(StartsWith("server send 56 octets [12345601"),
                            StartsWith("server send 56 octets [12345602")))
        << more;
  }
}

TEST(TcpJoined, OtherOctetsOnTheKnownPortAreNothing) {
  Script script;
  for (int i = 0; i < 3000; ++i) script.client(octets(100, i)).server(octets(1000, i));
  EXPECT_THAT(reported(script.packets), IsEmpty());
}

TEST(TcpJoined, AfterTheMissingFpdusAreFoundAgain) {
  Script script;
  script.startups().client(send(1, call(1)));
  const Bytes big = write(0, octets(2000)) + write(2000, octets(2000)) + send(1, reply(1));
  for (std::size_t at = 0; at < big.size(); at += 1000) {
    script.server(part(big, at, std::min(at + 1000, big.size())));
  }
  script.client(send(2, call(2))).server(send(2, reply(2)));
  Packets packets = script.packets;
  packets.erase(packets.begin() + 7);
  EXPECT_THAT(
      reported(packets),
      ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                  StartsWith("6 client send"), "11 server loss: packets are missing in the capture",
                  StartsWith("12 client send"), StartsWith("13 server send"), "0 end"));
}

}  // namespace
}  // namespace steertag::capture::iwarp
