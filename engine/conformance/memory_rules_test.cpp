// RDMA operations: inside what outstanding calls offer, and only while they are outstanding.
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

constexpr std::uint32_t kXid = 1;
constexpr wire::Segment kRead{0x21, 100, 0x1000};
constexpr wire::Segment kWrite{0x22, 4096, 0x2000};
constexpr wire::Segment kReply{0x23, 4096, 0x8000};

class MemoryRules : public testing::Test {
 protected:
  MemoryRules() {
    trace.open();
    wire::Header head = header(kXid);
    head.read_list.push_back({40, kRead});
    head.write_list.add(std::vector{kWrite});
    head.has_reply_chunk = true;
    head.reply_chunk = {kReply};
    trace.send(Role::client, head, rpc_call(kXid));
  }
  void reply() {
    wire::Header head = header(kXid);
    head.write_list.add(std::vector{wire::Segment{kWrite.handle, 0, kWrite.offset}});
    head.has_reply_chunk = true;
    head.reply_chunk = {{kReply.handle, 0, kReply.offset}};
    trace.send(Role::server, head, rpc_reply(kXid));
  }

  TraceBuilder trace;
};

TEST_F(MemoryRules, AcceptAccessToTheOffer) {
  trace.read(kRead.handle, kRead.offset, 60);
  trace.read(kRead.handle, kRead.offset + 60, 40);
  trace.read_response(30);
  trace.read_response(30);
  trace.read_response(40);
  trace.write(kWrite.handle, kWrite.offset + 4000, 96);
  trace.write(kReply.handle, kReply.offset, 1);
  trace.write(0xdead, 0xdead, 0);  // zero length: nothing is accessed
  reply();
  trace.expect_nothing();
}

TEST_F(MemoryRules, FindAWriteBehindASegment) {
  trace.write(kWrite.handle, kWrite.offset + 4000, 97);
  trace.expect("write_stays_inside_the_offer", "RFC8166-8.1.4-2", Role::server);
}

TEST_F(MemoryRules, FindAWriteBeforeASegment) {
  trace.write(kWrite.handle, kWrite.offset - 1, 2);
  trace.expect("write_stays_inside_the_offer", "RFC8166-8.1.4-2", Role::server);
}

TEST_F(MemoryRules, FindAWriteToUnknownMemory) {
  trace.write(0x99, kWrite.offset, 4);
  trace.expect("write_stays_inside_the_offer", "RFC8166-8.1.4-2", Role::server);
}

TEST_F(MemoryRules, FindAWriteToAReadSegment) {
  trace.write(kRead.handle, kRead.offset, 4);
  trace.expect("write_stays_inside_the_offer", "RFC8166-8.1.4-2", Role::server);
}

TEST_F(MemoryRules, FindAWriteAfterTheReply) {
  reply();
  trace.write(kWrite.handle, kWrite.offset, 4);
  trace.expect("write_precedes_the_reply", "RFC8166-3.5.2-2", Role::server);
}

TEST_F(MemoryRules, FindAReadOutsideTheOffer) {
  trace.read(kRead.handle, kRead.offset, 101);
  trace.expect("read_stays_inside_the_offer", "RFC8166-3.4.5-6", Role::server);
}

TEST_F(MemoryRules, FindAReadOfAWriteSegment) {
  trace.read(kWrite.handle, kWrite.offset, 4);
  trace.expect("read_stays_inside_the_offer", "RFC8166-3.4.5-6", Role::server);
}

TEST_F(MemoryRules, FindAReadAfterTheReply) {
  reply();
  trace.read(kRead.handle, kRead.offset, 4);
  trace.expect("read_precedes_the_reply", "RFC8166-3.4.5.1-1", Role::server);
}

TEST_F(MemoryRules, FindAReplyBeforeItsReadsAreDone) {
  trace.read(kRead.handle, kRead.offset, 50);
  trace.read(kRead.handle, kRead.offset + 50, 50);
  trace.read_response(50);
  reply();
  trace.expect("reply_awaits_the_reads", "RFC8166-2.3.2-4", Role::server);
}

TEST_F(MemoryRules, FindRdmaByAClient) {
  trace.write(0x99, 0, 4, Role::client);
  trace.expect("requester_issues_no_rdma", "RFC8166-3.1-1", Role::client);
}

TEST_F(MemoryRules, FindReadsByAClient) {
  trace.read(0x99, 0, 4, Role::client);
  trace.expect("requester_issues_no_rdma", "RFC8166-3.1-1", Role::client);
}

TEST_F(MemoryRules, FindABrokenGuard) {
  trace.event(Role::client, trace::MemoryInvalidated{kWrite.handle, true});
  trace.expect_nothing();
  trace.event(Role::client, trace::MemoryInvalidated{kWrite.handle, false});
  trace.expect("guards_stay_intact", "RFC8166-8.1-1", Role::server);
}

TEST(Memory, AWriteMayRunThroughNeighbouringSegments) {
  TraceBuilder trace;
  trace.open();
  wire::Header head = header(kXid);
  head.write_list.add(std::vector<wire::Segment>{{5, 100, 1000}, {5, 100, 1100}});
  trace.send(Role::client, head, rpc_call(kXid));
  trace.write(5, 1000, 150);
  head = header(kXid);
  head.write_list.add(std::vector<wire::Segment>{{5, 100, 1000}, {5, 50, 1100}});
  trace.send(Role::server, head, rpc_reply(kXid));
  trace.expect_nothing();
}

/// A write chunk of `count` segments of eight octets, one behind the other.
std::vector<wire::Segment> adjoining(std::uint32_t count) {
  std::vector<wire::Segment> segments;
  for (std::uint32_t i = 0; i < count; ++i) segments.push_back({5, 8, 1000 + 8 * i});
  return segments;
}

/// One RDMA Write through `count` adjoining segments, all of which come back full.
TraceBuilder write_through(std::uint32_t count, std::uint64_t written) {
  TraceBuilder trace;
  trace.open(announcement(true, 65536), announcement(true, 65536));
  wire::Header head = header(kXid);
  head.write_list.add(adjoining(count));
  trace.send(Role::client, head, rpc_call(kXid));
  trace.write(5, 1000, written);
  trace.send(Role::server, head, rpc_reply(kXid));
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
  TraceBuilder trace;
  trace.open();
  trace.call(1);
  trace.reply(1);
  for (const std::uint32_t xid : {2u, 3u}) {
    wire::Header head = header(xid);
    head.read_list.push_back({40, kRead});
    trace.send(Role::client, head, rpc_call(xid));
  }
  trace.read(kRead.handle, kRead.offset, 100);
  trace.read(kRead.handle, kRead.offset, 100);
  trace.read_response(100);
  trace.reply(2);
  trace.read_response(100);
  trace.read(kRead.handle, kRead.offset, 100);
  trace.read_response(100);
  trace.reply(3);
  trace.expect_nothing();
}

TEST(Memory, AServerMayUseWhatAFaultyCallOffers) {
  TraceBuilder trace;
  trace.open();
  wire::Header head = header(kXid);
  head.write_list.add(std::vector{kWrite});
  wire::Draft draft = wire::Draft::from(head, rpc_call(kXid));
  draft.read_list.push_back({1, {41, kRead}, false});  // no multiple of four
  trace.send(Role::client, draft);
  trace.read(kRead.handle, kRead.offset, 100);
  trace.write(kWrite.handle, kWrite.offset, 100);
  EXPECT_EQ(trace.judge().findings().size(), 1u) << "the position alone";
}

TEST(Memory, IsUnknownInTheMiddleOfAConnection) {
  TraceBuilder trace;
  trace.write(1, 2, 3);
  trace.read(1, 2, 3);
  trace.expect_nothing();
}

}  // namespace
}  // namespace steertag::conformance
