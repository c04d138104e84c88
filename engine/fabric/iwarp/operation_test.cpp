// Full operation against a bare socket: every protection and sequence error, its Terminate, and
// every way a peer can stall, flood or break off.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "fabric/iwarp/fpdu.h"
#include "fabric/iwarp/mpa_startup.h"
#include "fabric/iwarp/octets.h"
#include "fabric/iwarp/terminate.h"
#include "fabric/testing/raw_peer.h"

namespace steertag::fabric::iwarp {
namespace {

using namespace fabric::testing;  // NOLINT: the test endpoints

class OperationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    peer.emplace(RawPeer::to(pair.listener->port()));
    StartupFrame request;
    request.crc = true;
    request.revision = 2;
    request.enhanced = Enhanced{false, false, false, false, 16, 16};
    const Bytes octets = encode(request);
    std::size_t sent = 0;
    ASSERT_TRUE(pair.turn([&] {
      sent += peer->send(View(octets).subspan(sent));
      peer->read();
      const auto lacking = octets_lacking(StartupKind::reply, peer->got);
      return pair.server_notices.established && lacking && *lacking == 0;
    }));
    before = peer->got.size();
    pair.post_receives(4, 64);
    writable = pair.server_domain->allocate(100, {false, true});
    readable = pair.server_domain->allocate(100, {true, false});
    foreign = pair.other_domain->allocate(100, {true, true});
  }

  void send(const Bytes& octets) { ASSERT_EQ(peer->send(octets), octets.size()); }
  // Sends these octets; the connection must end with exactly this Terminate as its last FPDU.
  void expect_terminate(const Bytes& octets, const std::string& cause, const std::string& part) {
    send(octets);
    ASSERT_TRUE(pair.turn([&] { return !peer->read() && pair.server_notices.closed; }))
        << part << ": the connection did not end";
    EXPECT_EQ(peer->terminate(before), cause) << part;
    EXPECT_EQ(pair.server_notices.closed->code, Errc::protocol_error);
    const std::string& detail = pair.server_notices.closed->detail;
    EXPECT_NE(detail.find(part), std::string::npos) << detail;
    EXPECT_FALSE(pair.server_notices.closed->terminate_from_peer);
    EXPECT_TRUE(pair.server_notices.received.empty()) << "something was delivered";
  }
  Bytes read_request(std::uint32_t length, std::uint32_t stag, std::uint64_t offset,
                     std::uint32_t msn = 1) {
    Bytes content(kReadRequestBytes);
    encode(ReadRequest{0x501, 0, length, stag, offset}, content.data());
    return fpdu(untagged(Opcode::read_request, kReadRequestQueue, msn), content);
  }
  Bytes message(std::uint32_t msn, std::size_t size) {
    return fpdu(untagged(Opcode::send, kSendQueue, msn), pattern(size));
  }
  Bytes write(std::uint32_t stag, std::uint64_t offset, std::size_t size) {
    return fpdu(tagged(Opcode::rdma_write, stag, offset), Bytes(size, std::byte{0xee}));
  }
  void advance(std::chrono::milliseconds by) { *now += std::chrono::nanoseconds(by).count(); }
  // Sends these octets and turns until they have been taken.
  void send_and_settle(const Bytes& octets) {
    const std::size_t had = pair.server_bytes.from_client.size();
    send(octets);
    ASSERT_TRUE(
        pair.turn([&] { return pair.server_bytes.from_client.size() == had + octets.size(); }));
  }
  void expect_limit_of_silence_after(const Bytes& octets) {
    ASSERT_NO_FATAL_FAILURE(send_and_settle(octets));
    advance(Limits{}.mid_message);
    ASSERT_TRUE(pair.turn([&] { return pair.server_notices.closed && !peer->read(); }));
    EXPECT_EQ(pair.server_notices.closed->code, Errc::timed_out);
    EXPECT_EQ(peer->terminate(before), "0/0/0");
  }
  // The initiator's first message opens the responder's direction.
  void open_for_responses() {
    send(message(1, 1));
    ASSERT_TRUE(pair.turn([&] { return pair.server_notices.received.size() == 1; }));
  }
  // Until the socket takes no more.
  void send_more_than_fits() {
    surplus = pattern(64 << 20);
    const View part(surplus);
    ASSERT_TRUE(pair.server->send({&part, 1}, 1));
    std::size_t seen = 0;
    ASSERT_TRUE(pair.turn([&] {
      pair.provider->poll(std::chrono::milliseconds(5));
      const bool stuck = pair.server_bytes.from_server.size() == seen && seen > before;
      seen = pair.server_bytes.from_server.size();
      return stuck || pair.server_notices.closed;
    }));
  }
  // Has the server post `count` RDMA Reads; returns the sink's STag of the first one.
  std::uint32_t read_from_peer(std::uint32_t length, std::size_t count) {
    sink = pair.server_domain->allocate(length, {});
    for (WorkId id = 0; id < count; ++id) {
      EXPECT_TRUE(pair.server->rdma_read(*sink, 0, length, 1, 0, id));
    }
    constexpr std::size_t kRequest =
        kUlpduLengthBytes + kUntaggedHeaderBytes + kReadRequestBytes + kCrcBytes;
    EXPECT_TRUE(
        pair.turn([&] { return peer->read() && peer->got.size() == before + count * kRequest; }));
    return load32(peer->got.data() + before + kUlpduLengthBytes + kUntaggedHeaderBytes);
  }
  bool untouched(Region& region) {
    return std::ranges::all_of(region.bytes(), [](std::byte b) { return b == std::byte{0}; }) &&
           region.guards_intact();
  }

  std::shared_ptr<std::int64_t> now = std::make_shared<std::int64_t>(1);
  Pair pair{iwarp_factory(), {}, [at = now] { return *at; }};
  std::optional<RawPeer> peer;
  std::size_t before = 0;
  std::unique_ptr<Region> writable;
  std::unique_ptr<Region> readable;
  std::unique_ptr<Region> foreign;
  std::unique_ptr<Region> sink;
  Bytes surplus;
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
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.received.size() == 1; }));
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
  ASSERT_TRUE(pair.turn([&] { return peer->read() && peer->got.size() >= whole; }));
  const Segment segment = decode_segment(peer->got.data() + before + 2);
  EXPECT_EQ(segment.opcode, Opcode::read_response);
  EXPECT_EQ(segment.stag, 0x501U);
  EXPECT_EQ(segment.offset, 0U);
  EXPECT_TRUE(segment.last);
}

TEST_F(OperationTest, ZeroLengthReadIsNotChecked) {
  send(read_request(0, 12345, UINT64_MAX));
  ASSERT_TRUE(pair.turn([&] { return peer->read() && peer->got.size() == before + 20; }));
}

TEST_F(OperationTest, ReadResponseThatNobodyAsked) {
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
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.received.size() == 4; }));
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
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.closed.has_value(); }));
}

TEST_F(OperationTest, SolicitedEventsAreOrdinarySends) {
  Segment segment = untagged(Opcode::send_solicited_invalidate, kSendQueue, 1);
  segment.stag = writable->stag();
  send(fpdu(segment, pattern(4)));
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.received.size() == 1; }));
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
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.received.size() == 1; }));
  EXPECT_EQ(pair.server_notices.received[0].bytes, pattern(30));
}

TEST_F(OperationTest, PeersTerminateIsReported) {
  send(fpdu(untagged(Opcode::terminate, kTerminateQueue, 1), hex("12020000")));
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.closed.has_value(); }));
  EXPECT_EQ(pair.server_notices.closed->code, Errc::peer_terminated);
  EXPECT_TRUE(pair.server_notices.closed->terminate_from_peer);
  ASSERT_TRUE(pair.server_notices.closed->terminate);
  EXPECT_EQ(pair.server_notices.closed->terminate->code, 2);
  ASSERT_TRUE(pair.turn([&] { return !peer->read(); }));
  EXPECT_EQ(peer->got.size(), before) << "a Terminate is not answered";
}

TEST_F(OperationTest, TerminateInBitFieldOrderIsUnderstood) {
  send(fpdu(untagged(Opcode::terminate, kTerminateQueue, 1), hex("21020300")));
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.closed.has_value(); }));
  EXPECT_EQ(pair.server_notices.closed->detail,
            "DDP, untagged buffer: no buffer available (1/2/2)");
}

TEST_F(OperationTest, CutAtEveryOctetIsTold) {
  const Bytes whole = message(1, 5);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    if (cut > 0) {
      pair.drop_server();
      peer.reset();
      SetUp();
    }
    send(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)));
    peer->end();
    ASSERT_TRUE(pair.turn([&] { return pair.server_notices.closed.has_value(); })) << cut;
    EXPECT_EQ(pair.server_notices.closed->code, cut == 0 ? Errc::peer_closed : Errc::peer_reset)
        << "cut at " << cut;
    EXPECT_TRUE(pair.server_notices.received.empty());
  }
}

TEST_F(OperationTest, HalfClosedPeerStillGetsItsAnswer) {
  send(read_request(100, readable->stag(), readable->base()));
  peer->end();
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.closed && !peer->read(); }));
  EXPECT_EQ(pair.server_notices.closed->code, Errc::peer_closed);
  EXPECT_EQ(peer->got.size(), before + 2 + kTaggedHeaderBytes + 100 + 4);
}

TEST_F(OperationTest, SilenceInsideAnFpduEndsAtTheTimeLimit) {
  Bytes half = message(1, 40);
  half.resize(30);
  expect_limit_of_silence_after(half);
}

TEST_F(OperationTest, SilenceBetweenSegmentsEndsAtTheTimeLimit) {
  Segment first = untagged(Opcode::send, kSendQueue, 1);
  first.last = false;
  expect_limit_of_silence_after(fpdu(first, pattern(8)));
}

TEST_F(OperationTest, SilenceBetweenMessagesIsNoError) {
  send(message(1, 8));
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.received.size() == 1; }));
  advance(std::chrono::hours(24));
  pair.provider->poll(std::chrono::milliseconds(0));
  pair.provider->poll(std::chrono::milliseconds(0));
  EXPECT_FALSE(pair.server_notices.closed);
}

TEST_F(OperationTest, PeerThatNeverReadsEndsAtTheTimeLimit) {
  open_for_responses();
  send_more_than_fits();
  EXPECT_TRUE(pair.server_notices.completed.empty());
  advance(Limits{}.unsent);
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.closed.has_value(); }));
  EXPECT_EQ(pair.server_notices.closed->code, Errc::timed_out);
}

TEST_F(OperationTest, TheOwnersPauseIsNotTheFaultOfThePeer) {
  open_for_responses();
  advance(std::chrono::hours(1));
  send_more_than_fits();
  EXPECT_FALSE(pair.server_notices.closed);
}

TEST_F(OperationTest, UnansweredReadEndsAtTheTimeLimit) {
  open_for_responses();
  read_from_peer(100, 2);
  advance(Limits{}.unanswered_read - std::chrono::milliseconds(1));
  // Other traffic is no progress of a read.
  send(message(2, 1));
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.received.size() == 2; }));
  advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.closed && !peer->read(); }));
  EXPECT_EQ(pair.server_notices.closed->code, Errc::timed_out);
  EXPECT_EQ(pair.server_notices.closed->detail, "2 RDMA Reads went unanswered for 15000 ms");
  EXPECT_EQ(peer->terminate(before), "0/0/0");
}

TEST_F(OperationTest, ReadThatIsAnsweredSlowlyGoesOn) {
  open_for_responses();
  const std::uint32_t sink_stag = read_from_peer(100, 1);
  for (std::uint32_t place = 0; place < 100; place += 10) {
    advance(Limits{}.unanswered_read - std::chrono::milliseconds(1));
    Segment segment = tagged(Opcode::read_response, sink_stag, place);
    segment.last = place == 90;
    ASSERT_NO_FATAL_FAILURE(send_and_settle(fpdu(segment, pattern(10))));
  }
  EXPECT_EQ(pair.server_notices.completed.size(), 1U);
  // Nothing is outstanding any more.
  advance(std::chrono::hours(1));
  pair.provider->poll(std::chrono::milliseconds(0));
  pair.provider->poll(std::chrono::milliseconds(0));
  EXPECT_FALSE(pair.server_notices.closed);
}

TEST_F(OperationTest, FloodingPeerDoesNotStarveOthers) {
  Bytes flood;
  for (int i = 0; i < 2000; ++i) {
    const Bytes one = write(1, 1, 0);
    flood.insert(flood.end(), one.begin(), one.end());
  }
  Notices other;
  auto connection = pair.provider->connect(*parse_url(pair.url()), *pair.client_domain, {}, other);
  ASSERT_TRUE(connection);
  Notices second;
  std::unique_ptr<Connection> accepted;
  pair.answer = [&](std::unique_ptr<ConnectionRequest> request) {
    accepted = std::move(*request->accept(*pair.server_domain, {}, second));
  };
  EXPECT_TRUE(pair.turn([&] {
    peer->send(flood);
    return other.established;
  }));
}

TEST_F(OperationTest, ResetByThePeerIsTold) {
  send(message(1, 4));
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.received.size() == 1; }));
  ASSERT_TRUE(pair.server->send({}, 1));
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.completed.size() == 1; }));
  peer->close();  // with an unread message: the stream is reset
  ASSERT_TRUE(pair.turn([&] { return pair.server_notices.closed.has_value(); }));
  EXPECT_EQ(pair.server_notices.closed->code, Errc::peer_reset);
  EXPECT_EQ(pair.server_events.lines.back(), "client Disconnect unclean");
}

TEST_F(OperationTest, RegionMayGoWhileItIsWritten) {
  auto large = pair.server_domain->allocate(40000, {false, true});
  const Bytes octets = write(large->stag(), large->base(), 40000);
  send(Bytes(octets.begin(), octets.begin() + 20000));
  ASSERT_TRUE(pair.turn([&] { return pair.server_bytes.from_client.size() > 20000 + 4; }));
  large.reset();
  expect_terminate(Bytes(octets.begin() + 20000, octets.end()), "1/1/0", "not valid");
}

}  // namespace
}  // namespace steertag::fabric::iwarp
