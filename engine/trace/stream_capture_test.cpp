// Checks the packets planned around recorded octets: framing, sequence numbers, ends, limits.
#include "trace/stream_capture.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string_view>

namespace steertag::trace {
namespace {

using Packets = std::vector<CapturedPacket>;

constexpr std::size_t kHandshake = 3;

CaptureEndpoints endpoints() {
  return {parse_endpoint("192.0.2.1", 50000).value(), parse_endpoint("192.0.2.2", 20049).value()};
}

Bytes octets(std::string_view text) {
  const auto view = std::as_bytes(std::span(text.data(), text.size()));
  return {view.begin(), view.end()};
}

Bytes startup(std::string_view key, std::byte flags = std::byte{0x50}) {
  Bytes frame = octets(key);
  frame.insert(frame.end(), {flags, std::byte{2}, std::byte{0}, std::byte{0}});
  return frame;
}

Bytes fpdu(std::size_t ulpdu) {
  Bytes unit((2 + ulpdu + 3) / 4 * 4 + 4);
  unit[0] = std::byte(ulpdu >> 8);
  unit[1] = std::byte(ulpdu & 0xff);
  return unit;
}

Bytes joined(const Bytes& first, const Bytes& second) {
  Bytes all = first;
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

std::vector<std::size_t> payload_lengths(const Packets& packets, Role sender) {
  std::vector<std::size_t> lengths;
  for (const auto& packet : packets)
    if (packet.sender == sender && !packet.segment().payload.empty())
      lengths.push_back(packet.segment().payload.size());
  return lengths;
}

/// A capture whose connection is through its startup.
StreamCapture started() {
  StreamCapture capture(endpoints());
  capture.on_bytes(1, Role::client, startup("MPA ID Req Frame"));
  capture.on_bytes(2, Role::server, startup("MPA ID Rep Frame"));
  return capture;
}

TEST(StreamCapture, NothingPassedMeansNoPackets) {
  EXPECT_TRUE(StreamCapture(endpoints()).packets().empty());
}

TEST(StreamCapture, SequenceNumbersAndAcknowledgmentsAreContinuous) {
  StreamCapture capture = started();
  capture.on_bytes(3, Role::client, fpdu(30));
  capture.on_bytes(4, Role::server, fpdu(50));
  capture.on_bytes(5, Role::client, fpdu(10));
  capture.on_end(6, Role::client, true);
  capture.on_end(7, Role::server, true);
  const Packets packets = capture.packets();
  ASSERT_EQ(packets.size(), kHandshake + 2 + 3 + 3);
  EXPECT_EQ(packets[0].segment().flags, kSyn);
  EXPECT_EQ(packets[1].segment().flags, kSyn | kAck);
  EXPECT_EQ(packets[2].segment().flags, kAck);
  std::array<std::uint32_t, 2> next = {packets[0].segment().sequence,
                                       packets[1].segment().sequence};
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const TcpSegment& segment = packets[i].segment();
    const auto from = static_cast<std::size_t>(packets[i].sender);
    EXPECT_EQ(segment.sequence, next[from]) << "packet " << i;
    if ((segment.flags & kAck) != 0) {
      EXPECT_EQ(segment.acknowledgment, next[1 - from]) << "packet " << i;
    }
    next[from] += static_cast<std::uint32_t>(segment.payload.size());
    if ((segment.flags & (kSyn | kFin)) != 0) ++next[from];
  }
  EXPECT_EQ(packets.back().segment().flags, kAck) << "the last FIN is acknowledged";
}

TEST(StreamCapture, EachFpduIsOnePacketHoweverItCame) {
  StreamCapture capture = started();
  const Bytes three = joined(joined(fpdu(14), fpdu(100)), fpdu(33));
  for (const std::byte& octet : three) capture.on_bytes(3, Role::client, View(&octet, 1));
  EXPECT_EQ(payload_lengths(capture.packets(), Role::client),
            (std::vector<std::size_t>{20, 20, 108, 40}));
  StreamCapture at_once = started();
  at_once.on_bytes(3, Role::client, three);
  EXPECT_EQ(payload_lengths(at_once.packets(), Role::client),
            (std::vector<std::size_t>{20, 20, 108, 40}));
}

TEST(StreamCapture, FpduHasTheTimeOfItsLastOctet) {
  StreamCapture capture = started();
  const Bytes unit = fpdu(30);
  capture.on_bytes(3, Role::client, View(unit).first(7));
  capture.on_bytes(4, Role::server, fpdu(10));
  capture.on_bytes(5, Role::client, View(unit).subspan(7));
  const Packets packets = capture.packets();
  ASSERT_EQ(packets.size(), kHandshake + 4);
  EXPECT_EQ(packets[5].sender, Role::server);
  EXPECT_EQ(packets[6].sender, Role::client);
  EXPECT_EQ(packets[6].time_ns, 5);
}

TEST(StreamCapture, OctetsThatNeverBecameAnFpduStayWhereTheyCame) {
  StreamCapture capture = started();
  const Bytes unit = fpdu(30);
  capture.on_bytes(3, Role::client, View(unit).first(7));
  capture.on_bytes(4, Role::server, fpdu(10));
  const Packets open = capture.packets();
  ASSERT_EQ(open.size(), kHandshake + 4);
  EXPECT_EQ(open[5].sender, Role::client);
  EXPECT_EQ(open[5].time_ns, 3);

  capture.on_end(5, Role::client, true);
  const Packets ended = capture.packets();
  ASSERT_EQ(ended.size(), kHandshake + 5);
  EXPECT_EQ(ended[5].segment().payload.size(), 7u);
  EXPECT_EQ(ended[7].segment().flags, kFin | kAck);
}

TEST(StreamCapture, RestsOfBothDirectionsKeepTheirOrder) {
  StreamCapture capture = started();
  capture.on_bytes(3, Role::server, View(fpdu(30)).first(3));
  capture.on_bytes(4, Role::client, fpdu(10));
  capture.on_bytes(5, Role::client, View(fpdu(30)).first(5));
  capture.on_bytes(6, Role::server, View(fpdu(30)).subspan(3, 2));
  capture.on_end(7, Role::server, false);
  std::vector<std::size_t> lengths;
  for (const auto& packet : capture.packets()) lengths.push_back(packet.segment().payload.size());
  EXPECT_EQ(lengths, (std::vector<std::size_t>{0, 0, 0, 20, 20, 5, 16, 5, 0}));
}

TEST(StreamCapture, ResetEndsEverything) {
  StreamCapture capture = started();
  capture.on_end(3, Role::server, false);
  capture.on_bytes(4, Role::client, fpdu(10));
  capture.on_end(5, Role::client, true);
  const Packets packets = capture.packets();
  ASSERT_EQ(packets.size(), kHandshake + 3);
  EXPECT_EQ(packets.back().segment().flags, kRst | kAck);
}

TEST(StreamCapture, DataMayFollowTheOtherSidesFin) {
  StreamCapture capture = started();
  capture.on_bytes(3, Role::server, View(fpdu(10)).first(3));
  capture.on_end(3, Role::client, true);
  capture.on_bytes(4, Role::server, View(fpdu(10)).subspan(3));
  EXPECT_EQ(payload_lengths(capture.packets(), Role::server),
            (std::vector<std::size_t>{20, fpdu(10).size()}));
}

TEST(StreamCapture, StreamWithMarkersIsKeptAsItComes) {
  StreamCapture capture(endpoints());
  capture.on_bytes(1, Role::client, startup("MPA ID Req Frame", std::byte{0x80}));
  capture.on_bytes(2, Role::server, startup("MPA ID Rep Frame"));
  capture.on_bytes(3, Role::server, View(fpdu(100)).first(50));
  capture.on_bytes(4, Role::server, View(fpdu(100)).subspan(50));
  EXPECT_EQ(payload_lengths(capture.packets(), Role::server),
            (std::vector<std::size_t>{20, 50, 58}));
}

TEST(StreamCapture, LongChunksAreSplit) {
  StreamCapture capture(endpoints());
  capture.on_bytes(1, Role::client, Bytes(2 * kMaxSegmentBytes + 1, std::byte{'x'}));
  EXPECT_EQ(payload_lengths(capture.packets(), Role::client),
            (std::vector<std::size_t>{kMaxSegmentBytes, kMaxSegmentBytes, 1}));
}

TEST(StreamCapture, LimitHoldsAndIsSaid) {
  StreamCapture capture(endpoints(), 1000);
  capture.on_bytes(1, Role::client, Bytes(600, std::byte{'x'}));
  capture.on_bytes(2, Role::client, Bytes(600, std::byte{'y'}));
  capture.on_bytes(3, Role::server, Bytes(1, std::byte{'z'}));
  EXPECT_EQ(capture.kept_bytes(), 600u);
  EXPECT_EQ(capture.octets(Role::client).size(), 600u);
  EXPECT_TRUE(capture.octets(Role::server).empty());
  EXPECT_EQ(capture.dropped_bytes(), 601u) << "nothing is kept after the first gap";
  const Packets packets = capture.packets();
  ASSERT_EQ(packets.back().comments.size(), 1u);
  EXPECT_EQ(packets.back().comments[0],
            "Capture ends here: its limit of 1000 octets was reached, 601 octets were not kept.");
}

TEST(StreamCapture, LimitHoldsForSingleOctets) {
  StreamCapture capture(endpoints(), 10'000);
  const Bytes octet(1, std::byte{'x'});
  for (int i = 0; i < 10'000; ++i) capture.on_bytes(i, Role::client, octet);
  EXPECT_LT(capture.packets().size(), 200u);
  EXPECT_GT(capture.dropped_bytes(), 0u);
}

TEST(StreamCapture, NotesHangOnTheSendersLastPacketByThen) {
  StreamCapture capture = started();
  capture.on_bytes(10, Role::client, fpdu(30));
  capture.on_bytes(20, Role::server, fpdu(30));
  capture.on_bytes(30, Role::client, fpdu(30));
  capture.annotate(25, Role::client, "late");
  capture.annotate(0, Role::server, "early");
  const Packets packets = capture.packets();
  ASSERT_EQ(packets.size(), kHandshake + 5);
  EXPECT_EQ(packets[0].comments, std::vector<std::string>{"early"});
  EXPECT_EQ(packets[5].comments, std::vector<std::string>{"late"});
}

TEST(StreamCapture, TimesNeverGoBack) {
  StreamCapture capture = started();
  capture.on_bytes(10, Role::client, fpdu(30));
  capture.on_bytes(5, Role::client, fpdu(30));
  EXPECT_EQ(capture.packets().back().time_ns, 10);
}

TEST(WriteCaptures, ConnectionsAreMergedByTime) {
  StreamCapture first(endpoints());
  StreamCapture second(endpoints());
  first.on_bytes(1, Role::client, octets("AAAA"));
  second.on_bytes(2, Role::client, octets("BBBB"));
  first.on_bytes(3, Role::client, octets("CCCC"));
  std::ostringstream out;
  const std::array<const Capture*, 2> both = {&second, &first};
  write_captures(out, both, {{"the comment"}, 0});
  const std::string file = out.str();
  EXPECT_LT(file.find("AAAA"), file.find("BBBB"));
  EXPECT_LT(file.find("BBBB"), file.find("CCCC"));
  ASSERT_NE(file.find("CCCC"), std::string::npos);
  const std::size_t head = file.find("the comment");
  const std::size_t packet = file.find("the comment", head + 1);
  EXPECT_LT(packet, file.find("AAAA")) << "on the first packet";
  EXPECT_EQ(file.find("the comment", packet + 1), std::string::npos) << "only there";
}

}  // namespace
}  // namespace steertag::trace
