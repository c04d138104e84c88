// Truncated packets: losses are reported, and the rest stays correct.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/iwarp/testing.h"

namespace steertag::capture::iwarp {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;
using namespace testing;

const char* const kCut = "loss: packets are cut in the capture";

/// Removes the captured payloads of Writes.
class Payloads : public ConnectionSinks, public ConnectionSink {
 public:
  ConnectionSink& open(const FrameStamp&, const ConnectionName&) override { return *this; }
  void on_event(const FrameStamp&, const trace::Event& event) override {
    if (const auto* written = std::get_if<trace::RdmaWrite>(&event.body)) {
      lengths.push_back(written->length);
      payloads.emplace_back(written->payload.begin(), written->payload.end());
    }
  }
  void on_loss(const FrameStamp&, trace::Role, LossKind) override { ++losses; }
  void on_end(const FrameStamp&) override {}

  std::vector<std::uint64_t> lengths;
  std::vector<Bytes> payloads;
  int losses = 0;
};

TEST(TcpCut, EveryPacketMayBeCutAnywhere) {
  const Packets packets = conversation();
  const Lines whole = events(reported(packets));
  for (std::size_t i = 0; i < packets.size(); ++i) {
    for (std::size_t cut = 1; cut <= packets[i].payload.size(); ++cut) {
      Packets some = packets;
      some[i].cut = cut;
      const Lines lines = reported(some);
      const Lines left = events(lines);
      // The lines are in order, and all are in the whole capture.
      auto next = whole.begin();
      for (const std::string& line : left) {
        next = std::find(next, whole.end(), line);
        ASSERT_NE(next, whole.end()) << line << "; frame " << i + 1 << " without " << cut;
        ++next;
      }
      EXPECT_TRUE(left.size() == whole.size() || has_loss(lines))
          << "frame " << i + 1 << " without " << cut;
    }
  }
}

TEST(TcpCut, EveryPacketCutAtTheSameLength) {
  const Packets packets = conversation();
  const Lines whole = events(reported(packets));
  for (std::size_t length = 0; length < 120; ++length) {
    Packets some = packets;
    for (Packet& packet : some)
      packet.cut = packet.payload.size() - std::min(length, packet.payload.size());
    const Lines lines = reported(some);
    auto next = whole.begin();
    for (const std::string& line : events(lines)) {
      next = std::find(next, whole.end(), line);
      ASSERT_NE(next, whole.end()) << line << "; snapshot length " << length;
      ++next;
    }
  }
}

TEST(TcpCut, AWriteKeepsItsLengthAndTheOctetsBeforeTheCut) {
  const Bytes message = octets(1000);
  const Bytes written = write(0x2000, message);
  for (const std::size_t cut : {3u, 4u, 5u, 300u, 580u}) {
    for (const bool in_two : {false, true}) {
      Script script;
      script.startups();
      if (in_two) {
        script.server(part(written, 0, 600)).server(part(written, 600, written.size()));
      } else {
        script.server(written);
      }
      script.server(write(0x3000, octets(5)));
      script.packets[5].cut = cut;
      Payloads sink;
      Capture capture(sink);
      capture.read(script.packets);
      capture.finish();
      const std::size_t there = in_two ? 600 - 16 - cut : std::min<std::size_t>(1000, 1004 - cut);
      EXPECT_THAT(sink.lengths, ElementsAre(1000, 5)) << cut;
      EXPECT_THAT(sink.payloads, ElementsAre(part(message, 0, there), octets(5))) << cut;
      EXPECT_EQ(sink.losses, 0) << cut;
    }
  }
}

TEST(TcpCut, AWriteInManyPacketsOfWhichOneIsCut) {
  const Bytes written = write(0x2000, octets(1000));
  Script script;
  script.startups();
  for (std::size_t at = 0; at < written.size(); at += 300) {
    script.server(part(written, at, std::min(at + 300, written.size())));
  }
  script.server(send(1, reply(1)));
  for (std::size_t cut = 5; cut < 9; ++cut) {
    Packets packets = script.packets;
    packets[cut].cut = 11;
    EXPECT_THAT(reported(packets),
                ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                            StartsWith("9 server rdma_write 1000 octets"),
                            StartsWith("10 server send"), "0 end"))
        << "frame " << cut + 1;
  }
}

TEST(TcpCut, ASendIsLostAndTheNextIsNot) {
  Script script;
  script.startups().client(send(1, call(1)) + send(2, call(2)));
  script.client(send(3, call(3))).client(send(4, call(4)));
  Packets packets = script.packets;
  packets[6].cut = 10;
  EXPECT_THAT(reported(packets),
              ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                          StartsWith("6 client send"), StartsWith("6 client send"),
                          "7 client " + std::string(kCut), StartsWith("8 client send"), "0 end"));
}

TEST(TcpCut, OfASendOnlyPadAndCrcMayBeMissing) {
  Script script;
  script.startups().client(send(1, octets(53)));
  Packets packets = script.packets;
  packets[5].cut = 7;
  EXPECT_THAT(reported(packets),
              ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                          StartsWith("6 client send 53 octets"), "0 end"));
}

TEST(TcpCut, PrivateDataThatIsNotThereIsNotEmpty) {
  for (const std::size_t cut : {1u, 8u, 12u}) {
    Script script;
    script.startups().client(send(1, call(1)));
    Packets packets = script.packets;
    packets[3].cut = cut;
    packets[4].cut = cut;
    EXPECT_THAT(reported(packets),
                ElementsAre("4 client " + std::string(kCut), "5 server " + std::string(kCut),
                            StartsWith("6 client send"), "0 end"))
        << cut;
  }
}

TEST(TcpCut, ATerminateEndsTheConnectionWhateverItSaid) {
  Script script;
  script.startups().server(terminate());
  Packets packets = script.packets;
  packets[5].cut = 8;
  EXPECT_THAT(reported(packets),
              ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                          "6 server " + std::string(kCut), "6 server disconnect clean", "6 end"));
}

}  // namespace
}  // namespace steertag::capture::iwarp
