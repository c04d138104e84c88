// RDMA operations: inside the chunks of outstanding calls, and only while those are outstanding.
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

constexpr std::uint32_t kXid = 1;
constexpr wire::Segment kRead{0x21, 100, 0x1000};
constexpr wire::Segment kWrite{0x22, 4096, 0x2000};
constexpr wire::Segment kReply{0x23, 4096, 0x8000};

/// A connection with a call that offers all three kinds.
TraceBuilder offered() {
  TraceBuilder trace = opened();
  trace.call(with_reply_chunk(with_write(with_read(header(kXid), 40, kRead), {kWrite}), kReply));
  return trace;
}

/// The reply to it, which uses none of them.
wire::Header unused() {
  const wire::Header head = with_write(header(kXid), {with_length(kWrite, 0)});
  return with_reply_chunk(head, with_length(kReply, 0));
}

TEST(Memory, AcceptAccessToTheOffer) {
  offered()
      .read(kRead.handle, kRead.offset, 60)
      .read(kRead.handle, kRead.offset + 60, 40)
      .read_response(30)
      .read_response(30)
      .read_response(40)
      .write(kWrite.handle, kWrite.offset + 4000, 96)
      .write(kReply.handle, kReply.offset, 1)
      .write(0xdead, 0xdead, 0)  // zero length: nothing is accessed
      .reply(unused())
      .expect_nothing();
}

struct Outside {
  std::string_view what;
  std::uint32_t stag;
  std::uint64_t offset;
  std::uint64_t length;
};

TEST(Memory, FindAWriteOutsideTheOffer) {
  for (const Outside& each : {
           Outside{"behind a segment", kWrite.handle, kWrite.offset + 4000, 97},
           Outside{"before a segment", kWrite.handle, kWrite.offset - 1, 2},
           Outside{"unknown memory", 0x99, kWrite.offset, 4},
           Outside{"a read segment", kRead.handle, kRead.offset, 4},
       }) {
    SCOPED_TRACE(each.what);
    offered()
        .write(each.stag, each.offset, each.length)
        .expect("write_stays_inside_the_offer", "RFC8166-8.1.4-2", Role::server);
  }
}

TEST(Memory, BlameNoServerThatTakesAReplyWithChunksForACall) {
  for (const wire::Header& head : {
           with_read(header(9), 0, kRead),
           with_write(header(9), {kWrite}),
           with_reply_chunk(header(9), kReply),
       }) {
    TraceBuilder trace = opened();
    trace.exchange(1).reverse_call(9).send(Role::client, head, rpc_reply(9));
    if (!head.read_list.empty()) trace.read(kRead.handle, kRead.offset, kRead.length);
    trace.err_chunk(Role::server, 9);
    for (const Finding& each : trace.judge().findings()) EXPECT_EQ(each.culprit, Role::client);
  }
}

TEST(Memory, FindAReadOutsideTheOffer) {
  for (const Outside& each : {
           Outside{"behind a segment", kRead.handle, kRead.offset, 101},
           Outside{"a write segment", kWrite.handle, kWrite.offset, 4},
       }) {
    SCOPED_TRACE(each.what);
    offered()
        .read(each.stag, each.offset, each.length)
        .expect("read_stays_inside_the_offer", "RFC8166-3.4.5-6", Role::server);
  }
}

TEST(Memory, FindAWriteAfterTheReply) {
  offered()
      .reply(unused())
      .write(kWrite.handle, kWrite.offset, 4)
      .expect("write_precedes_the_reply", "RFC8166-3.5.2-2", Role::server);
}

TEST(Memory, FindAReadAfterTheReply) {
  offered()
      .reply(unused())
      .read(kRead.handle, kRead.offset, 4)
      .expect("read_precedes_the_reply", "RFC8166-3.4.5.1-1", Role::server);
}

TEST(Memory, FindAReplyBeforeItsReadsAreDone) {
  offered()
      .read(kRead.handle, kRead.offset, 50)
      .read(kRead.handle, kRead.offset + 50, 50)
      .read_response(50)
      .reply(unused())
      .expect("reply_awaits_the_reads", "RFC8166-2.3.2-4", Role::server);
}

TEST(Memory, FindRdmaByAClient) {
  offered()
      .write(0x99, 0, 4, Role::client)
      .expect("requester_issues_no_rdma", "RFC8166-3.1-1", Role::client);
}

TEST(Memory, FindReadsByAClient) {
  offered()
      .read(0x99, 0, 4, Role::client)
      .expect("requester_issues_no_rdma", "RFC8166-3.1-1", Role::client);
}

TEST(Memory, FindABrokenGuard) {
  offered()
      .event(Role::client, trace::MemoryInvalidated{kWrite.handle, true})
      .expect_nothing()
      .event(Role::client, trace::MemoryInvalidated{kWrite.handle, false})
      .expect("guards_stay_intact", "RFC8166-8.1-1", Role::server);
}

TEST(Memory, AWriteMayRunThroughNeighbouringSegments) {
  opened()
      .call(with_write(header(kXid), {{5, 100, 1000}, {5, 100, 1100}}))
      .write(5, 1000, 150)
      .reply(with_write(header(kXid), {{5, 100, 1000}, {5, 50, 1100}}))
      .expect_nothing();
}

/// A write chunk of `count` adjacent segments of eight octets.
std::vector<wire::Segment> adjoining(std::uint32_t count) {
  std::vector<wire::Segment> segments;
  for (std::uint32_t i = 0; i < count; ++i) segments.push_back({5, 8, 1000 + 8 * i});
  return segments;
}

/// One RDMA Write across `count` adjacent segments, which are all returned full.
TraceBuilder write_through(std::uint32_t count, std::uint64_t written) {
  TraceBuilder trace = opened(announcement(true, 65536), announcement(true, 65536));
  const wire::Header head = with_write(header(kXid), adjoining(count));
  trace.call(head).write(5, 1000, written).reply(head);
  return trace;
}

TEST(Memory, AWriteThroughManySegmentsIsNotHeldAgainstTheServer) {
  write_through(256, 256 * 8).expect_nothing();
  write_through(257, 257 * 8).expect_nothing();
  write_through(1000, 1000 * 8).expect_nothing();
}

TEST(Memory, FindALengthThatAWriteThroughFewSegmentsDidNotPlace) {
  write_through(200, 199 * 8)
      .expect("returned_length_is_what_was_placed", "RFC8166-3.4.6-5", Role::server);
}

TEST(Memory, TwoCallsMayOfferTheSameSource) {
  TraceBuilder trace = opened();
  trace.exchange(1);
  for (const std::uint32_t xid : {2u, 3u}) {
    wire::Header head = header(xid);
    head.read_list.push_back({40, kRead});
    trace.send(Role::client, head, rpc_call(xid));
  }
  trace.read(kRead.handle, kRead.offset, 100)
      .read(kRead.handle, kRead.offset, 100)
      .read_response(100)
      .reply(2)
      .read_response(100)
      .read(kRead.handle, kRead.offset, 100)
      .read_response(100)
      .reply(3)
      .expect_nothing();
}

TEST(Memory, AServerMayUseWhatAFaultyCallOffers) {
  TraceBuilder trace = opened();
  wire::Header head = header(kXid);
  head.write_list.add(std::vector{kWrite});
  wire::Draft draft = wire::Draft::from(head, rpc_call(kXid));
  draft.read_list.push_back({1, {41, kRead}, false});  // no multiple of four
  trace.send(Role::client, draft)
      .read(kRead.handle, kRead.offset, 100)
      .write(kWrite.handle, kWrite.offset, 100);
  EXPECT_EQ(trace.findings(), 1u) << "the position alone";
}

TEST(Memory, IsUnknownInTheMiddleOfAConnection) {
  TraceBuilder trace;
  trace.write(1, 2, 3).read(1, 2, 3).expect_nothing();
}

}  // namespace
}  // namespace steertag::conformance
