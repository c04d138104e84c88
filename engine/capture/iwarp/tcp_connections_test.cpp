// Complete connections in order: their events, and which connections are followed.
#include "capture/iwarp/tcp_connections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/iwarp/testing.h"

namespace steertag::capture::iwarp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using namespace testing;

TEST(TcpConnections, TellsAConversationAsItWasHeld) {
  Capture capture;
  capture.read(conversation());
  capture.finish();
  ASSERT_EQ(capture.all.connections.size(), 1u);
  const auto& connection = capture.all.connections.front();
  EXPECT_EQ(connection.name.ends.client, "192.0.2.1:50000");
  EXPECT_EQ(connection.name.ends.server, "192.0.2.2:20049");
  EXPECT_THAT(
      connection.lines,
      ElementsAre(
          "4 client connect with private data [f6ab0e18 01000303]",
          "5 server accept with private data [f6ab0e18 01000303]",
          StartsWith("6 client send 56 octets [12345601 "),
          "7 server rdma_read 300 octets from STag 0x00aabb01 offset 0x0000000000001000",
          "8 client rdma_read_response 200 octets to STag 0x00000501 offset 0x0000000000000000",
          "8 client rdma_read_response 100 octets to STag 0x00000501 offset 0x00000000000000c8",
          "10 server rdma_write 333 octets to STag 0x00aabb02 offset 0x0000000000002000",
          "10 server rdma_write 41 octets to STag 0x00aabb02 offset 0x0000000000003000",
          AllOf(StartsWith("11 server send 56 octets [12345601 "),
                EndsWith(" invalidates STag 0x00aabb02")),
          StartsWith("13 client send 146 octets [12345602 "),
          StartsWith("13 client send 56 octets [12345603 "),
          StartsWith("14 server send 56 octets [12345602 "),
          StartsWith("15 server send 56 octets [12345603 "),
          AllOf(StartsWith("16 client send 56 octets [12345604 "),
                EndsWith(" invalidates STag 0x00000077")),
          StartsWith("17 server send 56 octets [12345604 "), "19 client disconnect clean",
          "19 end"));
  const Bytes second = call(2) + octets(90);
  EXPECT_THAT(connection.sends, ElementsAre(call(1), reply(1), second, call(3), reply(2), reply(3),
                                            call(4), reply(4)));
}

TEST(TcpConnections, RecognizesAConnectionOnAnyPortByItsStartup) {
  Packets packets = conversation();
  const Lines whole = reported(packets);
  EXPECT_EQ(reported(packets, {50000, 4711}), whole);
  packets.erase(packets.begin(), packets.begin() + 3);
  EXPECT_EQ(reported(packets, {50000, 4711}), whole) << "without the handshake";
}

TEST(TcpConnections, TheSenderOfTheRequestIsTheClient) {
  Script script;
  script.packet(Role::client, {}, kSyn).packet(Role::server, {}, kSyn | kAck);
  script.server(request()).client(accept()).server(send(1, call(1)));
  Capture capture;
  capture.read(script.packets);
  capture.finish();
  ASSERT_EQ(capture.all.connections.size(), 1u);
  EXPECT_EQ(capture.all.connections.front().name.ends.client, "192.0.2.2:20049");
  EXPECT_THAT(capture.all.connections.front().lines,
              ElementsAre(StartsWith("3 client connect"), StartsWith("4 server accept"),
                          StartsWith("5 client send"), "0 end"));
}

TEST(TcpConnections, TellsNothingOfOtherProtocols) {
  Script script;
  script.handshake().client(octets(100)).server(octets(2000)).client(octets(3)).ends();
  EXPECT_THAT(reported(script.packets), IsEmpty()) << "not even on the port of NFS/RDMA";
  EXPECT_THAT(reported(script.packets, {50000, 80}), IsEmpty());
  Capture capture;
  for (const Packet& packet : script.packets) {
    EXPECT_FALSE(capture.read(packet, {50000, 80})) << "frame " << packet.frame;
  }
}

TEST(TcpConnections, SaysWhichPacketsAreOfAnIwarpConnection) {
  Capture capture;
  for (const Packet& packet : conversation()) {
    EXPECT_EQ(capture.read(packet), packet.frame > 3) << "frame " << packet.frame;
  }
}

/// The octets of Sends and Writes.
class Views : public ConnectionSinks, public ConnectionSink {
 public:
  ConnectionSink& open(const FrameStamp&, const ConnectionName&) override { return *this; }
  void on_event(const FrameStamp&, const trace::Event& event) override {
    if (const auto* send = std::get_if<trace::Send>(&event.body)) views.push_back(send->bytes);
    if (const auto* write = std::get_if<trace::RdmaWrite>(&event.body)) {
      views.push_back(write->payload);
    }
  }
  void on_loss(const FrameStamp&, trace::Role, LossKind) override {}
  void on_end(const FrameStamp&) override {}
  std::vector<View> views;
};

TEST(TcpConnections, OctetsInOrderAreNotCopied) {
  Views sink;
  Capture capture(sink);
  Script script;
  script.startups();
  capture.read(script.packets);
  Bytes segment = octets(20) + write(0, octets(100)) + testing::send(1, reply(1));
  rdma::store16(&segment[0], kNfsRdmaPort);
  rdma::store16(&segment[2], 50000);
  rdma::store32(&segment[4], script.packets[4].sequence + std::uint32_t(testing::accept().size()));
  rdma::store32(&segment[8], script.packets[4].acknowledgment);
  rdma::store16(&segment[12], 0x5010);
  capture.reader.read({{6, 6}, address(2), address(1), kProtocolTcp, segment, segment.size()});
  ASSERT_EQ(sink.views.size(), 2u);
  for (const View view : sink.views) {
    EXPECT_GE(view.data(), segment.data());
    EXPECT_LE(view.data() + view.size(), segment.data() + segment.size());
  }
}

TEST(TcpConnections, KnowsWhatIsNoTcp) {
  capture::testing::AllLines all;
  TcpConnections reader(all, {});
  const Bytes segment = octets(40);
  EXPECT_FALSE(reader.read({{1, 1}, address(1), address(2), kProtocolUdp, segment, 40}));
  for (std::size_t length = 0; length < segment.size(); ++length) {
    EXPECT_FALSE(reader.read(
        {{1, 1}, address(1), address(2), kProtocolTcp, View(segment).first(length), length}));
  }
}

TEST(TcpConnections, ANewSynOfTheSameEndsIsAnotherConnection) {
  Packets packets = conversation();
  const Lines once = reported(packets);
  packets.resize(10);  // the first one has no end
  Capture capture;
  capture.read(packets);
  Script script(0x1000, 0x2000);
  script.startups().client(send(1, call(1)));
  for (const Packet& packet : script.packets) capture.read(packet, {}, 100 + packet.frame);
  capture.finish();
  ASSERT_EQ(capture.all.connections.size(), 2u);
  EXPECT_EQ(capture.all.connections[0].lines.back(), "101 end");
  EXPECT_THAT(capture.all.connections[1].lines,
              ElementsAre(StartsWith("104 client connect"), StartsWith("105 server accept"),
                          StartsWith("106 client send"), "0 end"));
}

TEST(TcpConnections, DuplicatesOfAnEndedConnectionAreNoNewOne) {
  Capture capture;
  capture.read(conversation());
  capture.read(conversation());
  capture.finish();
  EXPECT_EQ(capture.all.connections.size(), 1u);
}

TEST(TcpConnections, EndsTheOneLongestSilentIfThereAreTooMany) {
  Capture capture;
  Script script;
  script.startups();
  for (std::size_t i = 0; i <= kMostConnections; ++i) {
    capture.read(script.packets, {static_cast<std::uint16_t>(10000 + i)});
  }
  EXPECT_EQ(capture.reader.forgotten(), 1u);
  ASSERT_EQ(capture.all.connections.size(), kMostConnections + 1);
  EXPECT_TRUE(capture.all.connections[0].ended);
  EXPECT_FALSE(capture.all.connections[1].ended);
}

TEST(TcpConnections, OfManyBeginningsTheOldestIsForgotten) {
  const Ports ports{50000, 4711};
  for (const std::size_t others : {kMostOthers - 1, kMostOthers}) {
    Capture capture;
    Script script;
    // Without the SYN, a part of a frame is not recognized as one.
    script.handshake().client(part(request(), 0, 9)).client(part(request(), 9, 32));
    for (int i = 0; i < 3; ++i) capture.read(script.packets[std::size_t(i)], ports);
    for (std::size_t i = 0; i < others; ++i) {
      capture.read(script.packets[0], {static_cast<std::uint16_t>(1 + i), 80});
    }
    capture.read(script.packets[3], ports);
    capture.read(script.packets[4], ports);
    capture.finish();
    EXPECT_EQ(capture.all.connections.size(), others == kMostOthers ? 0u : 1u);
  }
}

TEST(TcpConnections, ManyBeginningsOfOthersEndNone) {
  Capture capture;
  Script script;
  script.startups().client(send(1, call(1)));
  capture.read(script.packets);
  for (std::size_t i = 0; i < 3 * kMostOthers; ++i) {
    capture.read(script.packets[0], {static_cast<std::uint16_t>(1 + i), 80});
  }
  EXPECT_EQ(capture.reader.forgotten(), 0u);
  EXPECT_FALSE(capture.all.connections.front().ended);
}

}  // namespace
}  // namespace steertag::capture::iwarp
