// Full operation against a bare socket: every protection and sequence error, and its Terminate.
#include <algorithm>

#include "fabric/testing/raw_connection.h"

namespace steertag::fabric::iwarp {
namespace {

using namespace fabric::testing;  // NOLINT: the test endpoints

class OperationTest : public RawConnectionTest {
 protected:
  // Sends these octets; the connection must end with exactly this Terminate as its last FPDU.
  void expect_terminate(const Bytes& octets, const std::string& cause, const std::string& part) {
    send(octets);
    ASSERT_TRUE(pair.poll_until([&] { return !peer->read() && pair.server_notices.closed; }))
        << part << ": the connection did not end";
    EXPECT_EQ(peer->terminate(before), cause) << part;
    EXPECT_EQ(pair.server_notices.closed->code, Errc::protocol_error);
    const std::string& detail = pair.server_notices.closed->detail;
    EXPECT_NE(detail.find(part), std::string::npos) << detail;
    EXPECT_FALSE(pair.server_notices.closed->terminate_from_peer);
    EXPECT_TRUE(pair.server_notices.received.empty()) << "something was delivered";
  }
  bool untouched(Region& region) {
    return std::ranges::all_of(region.bytes(), [](std::byte b) { return b == std::byte{0}; }) &&
           region.guards_intact();
  }
};

TEST_F(OperationTest, WriteToAnUnknownStag) {
  expect_terminate(write(writable->stag() ^ 1, writable->base(), 8), "1/1/0", "not valid");
  EXPECT_TRUE(untouched(*writable));
}

TEST_F(OperationTest, WriteToAnInvalidatedStag) {
  const std::uint32_t stag = writable->stag();
  writable->invalidate();
  expect_terminate(write(stag, writable->base(), 8), "1/1/0", "not valid");
  EXPECT_TRUE(untouched(*writable));
}

TEST_F(OperationTest, WriteToAnotherDomain) {
  expect_terminate(write(foreign->stag(), foreign->base(), 8), "1/1/2", "another protection");
  EXPECT_TRUE(untouched(*foreign));
}

TEST_F(OperationTest, WriteWithoutTheRight) {
  expect_terminate(write(readable->stag(), readable->base(), 8), "1/1/0", "not open for writing");
  EXPECT_TRUE(untouched(*readable));
}

TEST_F(OperationTest, WriteBehindTheEnd) {
  expect_terminate(write(writable->stag(), writable->base() + 93, 8), "1/1/1", "leaves");
  EXPECT_TRUE(untouched(*writable));
}

TEST_F(OperationTest, WriteBeforeTheBase) {
  expect_terminate(write(writable->stag(), writable->base() - 1, 8), "1/1/1", "leaves");
  EXPECT_TRUE(untouched(*writable));
}

TEST_F(OperationTest, WriteThatWraps) {
  expect_terminate(write(writable->stag(), UINT64_MAX - 3, 8), "1/1/3", "wraps");
}

TEST_F(OperationTest, RefusedWriteIsTold) {
  expect_terminate(write(writable->stag(), writable->base() + 93, 8), "1/1/1", "leaves");
  const auto& lines = pair.server_events.lines;
  EXPECT_NE(std::ranges::find(lines, "client RdmaWrite 8"), lines.end());
  EXPECT_EQ(lines.back(), "server Disconnect unclean");
  EXPECT_EQ(lines[lines.size() - 2], "server Terminate 1/1/1");
}

TEST_F(OperationTest, ZeroLengthWriteIsNotChecked) {
  send(write(12345, UINT64_MAX, 0));
  send(message(1, 3));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 1; }));
}

TEST_F(OperationTest, ReadOfAnUnknownStag) {
  expect_terminate(read_request(8, readable->stag() ^ 1, readable->base()), "0/1/0", "not valid");
}

TEST_F(OperationTest, ReadOfAnotherDomain) {
  expect_terminate(read_request(8, foreign->stag(), foreign->base()), "0/1/3", "another");
}

TEST_F(OperationTest, ReadWithoutTheRight) {
  expect_terminate(read_request(8, writable->stag(), writable->base()), "0/1/2", "not open");
}

TEST_F(OperationTest, ReadBehindTheEnd) {
  expect_terminate(read_request(101, readable->stag(), readable->base()), "0/1/1", "leaves");
}

TEST_F(OperationTest, ReadThatWraps) {
  expect_terminate(read_request(8, readable->stag(), UINT64_MAX - 3), "0/1/4", "wraps");
}

TEST_F(OperationTest, ReadsBeyondTheIrd) {
  Bytes reads;
  for (std::uint32_t msn = 1; msn <= 17; ++msn) {
    const Bytes one = read_request(1, readable->stag(), readable->base(), msn);
    reads.insert(reads.end(), one.begin(), one.end());
  }
  expect_terminate(reads, "1/2/2", "IRD of 16");
}

TEST_F(OperationTest, ReadIsAnsweredInSegmentsToTheSink) {
  send(read_request(100, readable->stag(), readable->base()));
  const std::size_t whole = before + 2 + kTaggedHeaderBytes + 100 + 4;
  ASSERT_TRUE(pair.poll_until([&] { return peer->read() && peer->got.size() >= whole; }));
  const Segment segment = decode_segment(peer->got.data() + before + 2);
  EXPECT_EQ(segment.opcode, Opcode::read_response);
  EXPECT_EQ(segment.stag, 0x501U);
  EXPECT_EQ(segment.offset, 0U);
  EXPECT_TRUE(segment.last);
}

TEST_F(OperationTest, ZeroLengthReadIsNotChecked) {
  send(read_request(0, 12345, UINT64_MAX));
  ASSERT_TRUE(pair.poll_until([&] { return peer->read() && peer->got.size() == before + 20; }));
}

TEST_F(OperationTest, UnsolicitedReadResponse) {
  expect_terminate(fpdu(tagged(Opcode::read_response, 1, 0), pattern(4)), "0/2/6",
                   "without an outstanding");
}

TEST_F(OperationTest, SendBeyondThePostedReceives) {
  Bytes sends;
  for (std::uint32_t msn = 1; msn <= 4; ++msn) {
    const Bytes one = message(msn, 1);
    sends.insert(sends.end(), one.begin(), one.end());
  }
  send(sends);
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 4; }));
  pair.server_notices.received.clear();
  expect_terminate(message(5, 0), "1/2/2", "no posted receive");
}

TEST_F(OperationTest, SendTooLong) {
  expect_terminate(message(1, 65), "1/2/5", "Send of 65 octets");
}

TEST_F(OperationTest, SendTooLongInItsSecondSegment) {
  Segment first = untagged(Opcode::send, kSendQueue, 1);
  first.last = false;
  Segment second = untagged(Opcode::send, kSendQueue, 1);
  second.mo = 60;
  Bytes octets = fpdu(first, pattern(60));
  const Bytes rest = fpdu(second, pattern(5));
  octets.insert(octets.end(), rest.begin(), rest.end());
  expect_terminate(octets, "1/2/5", "FPDU 2: Send of 65 octets");
}

TEST_F(OperationTest, SendWithAGapInItsOffsets) {
  Segment segment = untagged(Opcode::send, kSendQueue, 1);
  segment.mo = 4;
  expect_terminate(fpdu(segment, pattern(4)), "1/2/4", "message offset 4 instead of 0");
}

TEST_F(OperationTest, SendWithAWrongMsn) {
  expect_terminate(message(2, 4), "1/2/3", "MSN 2 instead of 1");
}

TEST_F(OperationTest, SendWithMsnZero) {
  expect_terminate(message(0, 4), "1/2/3", "MSN 0 instead of 1");
}

TEST_F(OperationTest, UnknownQueue) {
  expect_terminate(fpdu(untagged(Opcode::send, 3, 1), pattern(4)), "1/2/1", "queue number 3");
}

TEST_F(OperationTest, UnexpectedOpcodes) {
  expect_terminate(fpdu(untagged(Opcode::read_response, 0, 1), pattern(4)), "0/2/6", "opcode 2");
}

TEST_F(OperationTest, UnexpectedTaggedOpcode) {
  expect_terminate(fpdu(tagged(static_cast<Opcode>(9), 1, 0), pattern(4)), "0/2/6",
                   "opcode 9 in a tagged");
}

TEST_F(OperationTest, DdpVersionUntagged) {
  Segment segment = untagged(Opcode::send, kSendQueue, 1);
  segment.ddp_version = 0;
  expect_terminate(fpdu(segment, pattern(4)), "1/2/6", "DDP version 0");
}

TEST_F(OperationTest, DdpVersionTagged) {
  Segment segment = tagged(Opcode::rdma_write, writable->stag(), writable->base());
  segment.ddp_version = 2;
  expect_terminate(fpdu(segment, pattern(4)), "1/1/4", "DDP version 2");
}

TEST_F(OperationTest, RdmapVersion) {
  Segment segment = untagged(Opcode::send, kSendQueue, 1);
  segment.rdmap_version = 0;
  expect_terminate(fpdu(segment, pattern(4)), "0/2/5", "RDMAP version 0");
}

TEST_F(OperationTest, InvalidateOfAnUnknownStag) {
  Segment segment = untagged(Opcode::send_invalidate, kSendQueue, 1);
  segment.stag = 77;
  expect_terminate(fpdu(segment, pattern(4)), "0/1/9", "Send with Invalidate");
}

TEST_F(OperationTest, InvalidateOfAnotherDomainsStag) {
  Segment segment = untagged(Opcode::send_invalidate, kSendQueue, 1);
  segment.stag = foreign->stag();
  expect_terminate(fpdu(segment, pattern(4)), "0/1/9", "Send with Invalidate");
  EXPECT_TRUE(foreign->valid());
}

TEST_F(OperationTest, ShortReadRequest) {
  expect_terminate(fpdu(untagged(Opcode::read_request, kReadRequestQueue, 1), pattern(27)),
                   "0/2/255", "27 octets");
}

TEST_F(OperationTest, LongReadRequest) {
  expect_terminate(fpdu(untagged(Opcode::read_request, kReadRequestQueue, 1), pattern(29)), "1/2/5",
                   "29 octets");
}

TEST_F(OperationTest, BadCrc) {
  Bytes octets = message(1, 10);
  octets.back() ^= std::byte{1};
  expect_terminate(octets, "2/0/2", "FPDU 1: CRC mismatch");
}

TEST_F(OperationTest, LengthWithoutRoomForAHeader) {
  expect_terminate(hex("0003 4143 0000 0000 0000"), "2/0/3", "ULPDU_Length 3");
}

TEST_F(OperationTest, GarbageEndsTheConnectionOnly) {
  const Bytes garbage = pattern(3000, 0x33);
  peer->send(garbage);
  peer->end();
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed.has_value(); }));
}

TEST_F(OperationTest, SolicitedEventsAreOrdinarySends) {
  Segment segment = untagged(Opcode::send_solicited_invalidate, kSendQueue, 1);
  segment.stag = writable->stag();
  send(fpdu(segment, pattern(4)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 1; }));
  EXPECT_EQ(pair.server_notices.received[0].invalidated, segment.stag);
  EXPECT_FALSE(writable->valid());
}

TEST_F(OperationTest, TaggedSegmentsMayStandBetweenThoseOfASend) {
  Segment first = untagged(Opcode::send, kSendQueue, 1);
  first.last = false;
  Segment second = untagged(Opcode::send, kSendQueue, 1);
  second.mo = 10;
  send(fpdu(first, pattern(10)));
  send(write(writable->stag(), writable->base(), 8));
  send(fpdu(second, View(pattern(30)).subspan(10)));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.received.size() == 1; }));
  EXPECT_EQ(pair.server_notices.received[0].bytes, pattern(30));
}

TEST_F(OperationTest, PeersTerminateIsReported) {
  send(fpdu(untagged(Opcode::terminate, kTerminateQueue, 1), hex("12020000")));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed.has_value(); }));
  EXPECT_EQ(pair.server_notices.closed->code, Errc::peer_terminated);
  EXPECT_TRUE(pair.server_notices.closed->terminate_from_peer);
  ASSERT_TRUE(pair.server_notices.closed->terminate);
  EXPECT_EQ(pair.server_notices.closed->terminate->code, 2);
  ASSERT_TRUE(pair.poll_until([&] { return !peer->read(); }));
  EXPECT_EQ(peer->got.size(), before) << "a Terminate is not answered";
}

TEST_F(OperationTest, TerminateInBitFieldOrderIsUnderstood) {
  send(fpdu(untagged(Opcode::terminate, kTerminateQueue, 1), hex("21020300")));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed.has_value(); }));
  EXPECT_EQ(pair.server_notices.closed->detail,
            "DDP, untagged buffer: no buffer available (1/2/2)");
}

TEST_F(OperationTest, RegionMayGoWhileItIsWritten) {
  auto large = pair.server_domain->allocate(40000, {false, true});
  const Bytes octets = write(large->stag(), large->base(), 40000);
  send(Bytes(octets.begin(), octets.begin() + 20000));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_bytes.from_client.size() > 20000 + 4; }));
  large.reset();
  expect_terminate(Bytes(octets.begin() + 20000, octets.end()), "1/1/0", "not valid");
}

TEST_F(OperationTest, RegionMayGoBetweenAPayloadAndItsTrailer) {
  auto region = pair.server_domain->allocate(40, {false, true});
  const Bytes octets = write(region->stag(), region->base(), 40);
  const std::size_t had = pair.server_bytes.from_client.size();
  send(Bytes(octets.begin(), octets.end() - 1));
  ASSERT_TRUE(pair.poll_until(
      [&] { return pair.server_bytes.from_client.size() == had + octets.size() - 1; }));
  region.reset();
  expect_terminate(Bytes(octets.end() - 1, octets.end()), "1/1/0", "not valid");
}

TEST(Operation, SegmentsGrowWithTheEmss) {
  Pair pair(iwarp_factory());
  pair.connect();
  ASSERT_TRUE(pair.server);
  pair.post_receives(4, 64);
  ASSERT_TRUE(pair.client->send({}, 1));  // RFC 5044 7.1.2: the server may send now
  auto region = pair.client_domain->allocate(1 << 20, {false, true});
  const Bytes data = pattern(1 << 20);
  const auto segments_of_a_write = [&] {
    const std::size_t before = pair.client_events.lines.size();
    pair.client_notices.received.clear();
    EXPECT_TRUE(pair.server->rdma_write(data, region->stag(), region->base(), 1));
    EXPECT_TRUE(pair.server->send({}, 2));
    EXPECT_TRUE(pair.poll_until([&] { return !pair.client_notices.received.empty(); }));
    return pair.client_events.lines.size() - before;
  };
  // A SYN announces at most 65535 octets. TCP sends no more than half of the largest window at a
  // time, so the first segments over loopback are half of what comes later.
  const std::size_t first = segments_of_a_write();
  segments_of_a_write();
  EXPECT_LT(segments_of_a_write(), first);
}

}  // namespace
}  // namespace steertag::fabric::iwarp
