// Startup frames of every kind, their result, and the end of connections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/iwarp/mpa_markers.h"
#include "capture/iwarp/testing.h"

namespace steertag::capture::iwarp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using namespace testing;
using rdma::iwarp::StartupFrame;
using rdma::iwarp::StartupKind;

const char* const kNoFrame = "loss: octets that are no frame of the protocol";

TEST(MpaStartup, RevisionOneHasNoEnhancedWords) {
  StartupFrame frame = startup(StartupKind::request);
  frame.revision = 1;
  frame.enhanced.reset();
  frame.private_data = octets(3);
  Script script;
  script.handshake().client(encode(frame));
  frame.kind = StartupKind::reply;
  frame.private_data.clear();
  script.server(encode(frame));
  EXPECT_THAT(reported(script.packets),
              ElementsAre("4 client connect with private data [010203]",
                          "5 server accept without private data", "0 end"));
}

TEST(MpaStartup, ARejectionIsTheEnd) {
  StartupFrame frame = startup(StartupKind::reply);
  frame.rejected = true;
  Script script;
  script.handshake().client(request()).server(encode(frame)).ends();
  EXPECT_THAT(reported(script.packets),
              ElementsAre(StartsWith("4 client connect"),
                          "5 server reject with private data [f6ab0e18 01000303]",
                          "5 server disconnect clean", "5 end"));
}

TEST(MpaStartup, AReplyThatIsNoneIsTold) {
  Script script;
  script.handshake().client(request()).server(octets(100)).client(send(1, call(1))).ends();
  EXPECT_THAT(reported(script.packets),
              ElementsAre(StartsWith("4 client connect"), "5 server " + std::string(kNoFrame),
                          StartsWith("6 client send"), "8 client disconnect clean", "8 end"));
}

TEST(MpaStartup, TwoRequestsAreNoStartup) {
  Script script;
  script.handshake().client(request()).server(request());
  EXPECT_THAT(reported(script.packets), ElementsAre(StartsWith("4 client connect"),
                                                    "5 server " + std::string(kNoFrame), "0 end"));
}

TEST(MpaStartup, WrongRevisionIsNoStartup) {
  Bytes frame = request();
  frame[17] = std::byte{3};
  Script script;
  script.handshake().client(frame);
  EXPECT_THAT(reported(script.packets), IsEmpty());
}

TEST(MpaStartup, AReplyWithoutItsRequestTellsWhoIsTheClient) {
  Script script;
  script.startups().client(send(1, call(1)));
  Packets packets = script.packets;
  packets.erase(packets.begin(), packets.begin() + 4);
  EXPECT_THAT(reported(packets, {50000, 4711}),
              ElementsAre("5 client loss: the capture begins in the middle of the connection",
                          StartsWith("5 server accept"), StartsWith("6 client send"), "0 end"));
}

Script with_crc(bool by_client, Crc crc) {
  StartupFrame frame = startup(StartupKind::request);
  frame.crc = by_client;
  Script script;
  script.handshake().client(encode(frame));
  frame.kind = StartupKind::reply;
  frame.crc = !by_client;
  script.server(encode(frame));
  const auto segment = untagged(Opcode::send, 0, 1);
  script.client(fpdu(segment, call(1), crc) +
                fpdu(untagged(Opcode::send, 0, 2), call(2), Crc::right));
  return script;
}

TEST(MpaStartup, EitherSideAsksForTheCrc) {
  for (const bool by_client : {true, false}) {
    EXPECT_THAT(reported(with_crc(by_client, Crc::right).packets),
                ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                            StartsWith("6 client send"), StartsWith("6 client send"), "0 end"));
    for (const Crc crc : {Crc::wrong, Crc::zero}) {
      EXPECT_THAT(reported(with_crc(by_client, crc).packets),
                  ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                              "6 client " + std::string(kNoFrame),
                              StartsWith("6 client send 56 octets [12345602"), "0 end"))
          << "a wrong CRC is no message";
    }
  }
}

TEST(MpaStartup, WithoutAgreementTheCrcMeansNothing) {
  Script script;
  script.startups().client(fpdu(untagged(Opcode::send, 0, 1), call(1), Crc::wrong));
  EXPECT_THAT(reported(script.packets),
              ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                          StartsWith("6 client send"), "0 end"));
}

/// The octets with markers, as a sender inserts them on request.
Bytes with_markers(const Bytes& stream) {
  Bytes result;
  for (const std::byte octet : stream) {
    if (result.size() % kMarkerSpacing == 0) result = result + from_hex("00000012");
    result.push_back(octet);
  }
  return result;
}

TEST(MpaStartup, MarkersAreTakenOut) {
  StartupFrame frame = startup(StartupKind::request);
  Bytes stream;
  for (std::uint32_t i = 1; i < 40; ++i) stream = stream + send(i, call(std::uint8_t(i)));
  Script plain;
  plain.startups().client(stream);
  const Lines whole = without_frames(reported(plain.packets));
  const Bytes marked = with_markers(stream);
  for (const std::size_t step : {1u, 3u, 63u, 512u, 513u, 5000u}) {
    Script script;
    script.handshake().client(encode(frame));
    StartupFrame reply_frame = startup(StartupKind::reply);
    reply_frame.markers = true;  // in the client's stream
    script.server(encode(reply_frame));
    for (std::size_t at = 0; at < marked.size(); at += step) {
      script.client(part(marked, at, std::min(at + step, marked.size())));
    }
    EXPECT_EQ(without_frames(reported(script.packets)), whole) << "in pieces of " << step;
  }
}

TEST(MpaStartup, FramingGoesOnBehindCutOctetsWithMarkers) {
  StartupFrame frame = startup(StartupKind::reply);
  frame.markers = true;
  const Bytes marked = with_markers(write(0, octets(3000)) + send(1, call(1)));
  Script script;
  script.handshake().client(request()).server(encode(frame));
  script.client(part(marked, 0, 2500)).client(part(marked, 2500, marked.size()));
  script.packets[5].cut = 1500;
  EXPECT_THAT(reported(script.packets),
              ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                          StartsWith("7 client rdma_write 3000 octets"),
                          StartsWith("7 client send 56 octets [12345601"), "0 end"));
}

TEST(MpaStartup, MarkersOfCutOctetsAreCounted) {
  EXPECT_EQ(marker_bytes(0, 1), 1u);
  EXPECT_EQ(marker_bytes(0, 512), 4u);
  EXPECT_EQ(marker_bytes(4, 508), 0u);
  EXPECT_EQ(marker_bytes(4, 509), 1u);
  EXPECT_EQ(marker_bytes(510, 1000), 8u);
}

TEST(MpaStartup, TheReadyToReceiveMessageIsNoSend) {
  StartupFrame frame = startup(StartupKind::request);
  frame.enhanced = rdma::iwarp::Enhanced{true, true, true, false, 16, 16};
  for (const bool agreed : {true, false}) {
    Script script;
    script.handshake().client(encode(frame));
    StartupFrame answer = frame;
    answer.kind = StartupKind::reply;
    answer.enhanced->rtr_send = agreed;
    script.server(encode(answer)).client(send(1, {})).client(send(2, call(1)));
    const Lines lines = reported(script.packets);
    if (agreed) {
      EXPECT_THAT(lines, ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                                     StartsWith("7 client send 56 octets"), "0 end"));
    } else {
      EXPECT_THAT(lines,
                  ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                              "6 client send 0 octets", StartsWith("7 client send"), "0 end"));
    }
  }
}

TEST(MpaStartup, AnEmptyWriteThatSaysReadyIsToldAsTheProviderDoes) {
  Script script;
  script.startups().client(write(0, {}));
  EXPECT_THAT(reported(script.packets),
              ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                          StartsWith("6 client rdma_write 0 octets"), "0 end"));
}

TEST(MpaEnd, WhoeverEndsFirstDisconnects) {
  Script script;
  script.startups();
  script.packet(Role::server, {}, kFin | kAck).client(send(1, call(1)));
  script.packet(Role::client, {}, kFin | kAck).client({});
  EXPECT_THAT(reported(script.packets),
              ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                          StartsWith("7 client send"), "8 server disconnect clean", "8 end"));
}

TEST(MpaEnd, AFinInsideAMessageIsAbrupt) {
  for (const std::size_t octets_sent : {20u, 96u}) {
    Script script;
    const Bytes first = fpdu(untagged(Opcode::send, 0, 1, 0, false), call(1));
    ASSERT_EQ(first.size(), 80u);
    script.startups().client(part(first + first, 0, octets_sent));
    script.packet(Role::client, {}, kFin | kAck);
    EXPECT_THAT(reported(script.packets),
                ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                            "7 client disconnect abrupt", "7 end"));
  }
}

TEST(MpaEnd, AResetIsAbrupt) {
  Script script;
  script.startups().packet(Role::server, {}, kRst | kAck).client(send(1, call(1)));
  EXPECT_THAT(reported(script.packets),
              ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                          "6 server disconnect abrupt", "6 end"));
}

TEST(MpaEnd, AResetAfterAFinIsClean) {
  Script script;
  script.startups().packet(Role::client, {}, kFin | kAck).packet(Role::server, {}, kRst | kAck);
  EXPECT_THAT(reported(script.packets),
              ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                          "7 client disconnect clean", "7 end"));
}

TEST(MpaEnd, AnOldResetIsNone) {
  Script script;
  script.startups().client(send(1, call(1))).server(send(1, reply(1))).client(send(2, call(2)));
  Packets packets = script.packets;
  Packet rst = packets[5];
  rst.flags = kRst;
  rst.payload.clear();
  packets.insert(packets.end() - 1, rst);
  EXPECT_EQ(reported(packets), reported(script.packets));
}

TEST(MpaEnd, ATerminateIsTheLastWord) {
  Script script;
  script.startups().client(send(1, call(1))).server(terminate() + send(1, reply(1)));
  script.client(send(2, call(2))).ends();
  EXPECT_THAT(reported(script.packets),
              ElementsAre(StartsWith("4 client connect"), StartsWith("5 server accept"),
                          StartsWith("6 client send"), "7 server terminate layer 1 type 2 code 2",
                          "7 server disconnect clean", "7 end"));
}

TEST(MpaEnd, ARefusedTcpConnectionIsNothing) {
  Script script;
  script.packet(Role::client, {}, kSyn).packet(Role::server, {}, kRst | kAck);
  script.packets[1].acknowledgment = script.packets[0].sequence + 1;
  script.packets[1].sequence = 0;
  EXPECT_THAT(reported(script.packets), IsEmpty());
}

}  // namespace
}  // namespace steertag::capture::iwarp
