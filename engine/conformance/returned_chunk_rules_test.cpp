// Returned chunks: the offered ones, with the lengths that were placed.
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

constexpr std::uint32_t kXid = 1;
constexpr wire::Segment kFirst{0x11, 4096, 0x1000};
constexpr wire::Segment kSecond{0x12, 2048, 0x9000};
constexpr wire::Segment kReply{0x13, 8192, 0xf000};

wire::Segment with_length(wire::Segment segment, std::uint32_t length) {
  segment.length = length;
  return segment;
}

/// A call that offers a write chunk of two segments, an empty one, and a reply chunk.
wire::Header offer() {
  wire::Header head = header(kXid);
  head.write_list.add(std::vector{kFirst, kSecond});
  head.write_list.add({});
  head.has_reply_chunk = true;
  head.reply_chunk = {kReply};
  return head;
}

/// What comes back when `first` and `second` octets were placed, inline.
wire::Header returned(std::uint32_t first, std::uint32_t second) {
  wire::Header head = header(kXid);
  head.write_list.add(std::vector{with_length(kFirst, first), with_length(kSecond, second)});
  head.write_list.add({});
  head.has_reply_chunk = true;
  head.reply_chunk = {with_length(kReply, 0)};
  return head;
}

class ReturnedChunkRules : public testing::Test {
 protected:
  ReturnedChunkRules() {
    trace.open();
    trace.send(Role::client, offer(), rpc_call(kXid));
  }
  void place(std::uint32_t first, std::uint32_t second) {
    if (first > 0) trace.write(kFirst.handle, kFirst.offset, first);
    if (second > 0) trace.write(kSecond.handle, kSecond.offset, second);
  }
  void reply(const wire::Header& head) { trace.send(Role::server, head, rpc_reply(kXid)); }

  TraceBuilder trace;
};

TEST_F(ReturnedChunkRules, AcceptWhatWasPlaced) {
  place(4096, 5);
  reply(returned(4096, 5));
  trace.expect_nothing();
}

TEST_F(ReturnedChunkRules, AcceptWritesInPieces) {
  for (std::uint64_t at = 0; at < 4096; at += 1024) {
    trace.write(kFirst.handle, kFirst.offset + at, 1024);
  }
  trace.write(kSecond.handle, kSecond.offset + 3, 2);
  trace.write(kSecond.handle, kSecond.offset, 3);
  reply(returned(4096, 5));
  trace.expect_nothing();
}

TEST_F(ReturnedChunkRules, AcceptAnUnusedChunkThatWasWrittenTo) {
  place(4096, 5);
  reply(returned(0, 0));
  trace.expect_nothing();
}

TEST_F(ReturnedChunkRules, FindAMissingWriteChunk) {
  wire::Header head = header(kXid);
  head.has_reply_chunk = true;
  head.reply_chunk = {with_length(kReply, 0)};
  reply(head);
  trace.expect("write_list_is_returned", "RFC8166-3.4.6-4", Role::server);
}

TEST_F(ReturnedChunkRules, FindAMissingSegment) {
  wire::Header head = returned(0, 0);
  head.write_list.clear();
  head.write_list.add(std::vector{with_length(kFirst, 0)});
  head.write_list.add({});
  reply(head);
  trace.expect("write_list_is_returned", "RFC8166-3.4.6-4", Role::server);
}

TEST_F(ReturnedChunkRules, FindAnotherHandleOrOffset) {
  wire::Header head = returned(0, 0);
  head.write_list.at(0)[1].offset += 8;
  reply(head);
  trace.expect("write_list_is_returned", "RFC8166-3.4.6-4", Role::server);
}

TEST_F(ReturnedChunkRules, FindAnEmptyChunkThatGrew) {
  wire::Header head = returned(0, 0);
  head.write_list.extend(with_length(kSecond, 0));
  reply(head);
  trace.expect("empty_chunk_is_returned_empty", "RFC8166-4.3.2.3-3", Role::server);
}

TEST_F(ReturnedChunkRules, FindAMissingReplyChunk) {
  wire::Header head = returned(0, 0);
  head.has_reply_chunk = false;
  head.reply_chunk.clear();
  reply(head);
  trace.expect("reply_chunk_is_returned", "RFC8166-4.3.3-4", Role::server);
}

TEST_F(ReturnedChunkRules, FindAnotherReplyChunk) {
  wire::Header head = returned(0, 0);
  head.reply_chunk[0].handle = 0x99;
  reply(head);
  trace.expect("reply_chunk_is_returned", "RFC8166-4.3.3-4", Role::server);
}

TEST_F(ReturnedChunkRules, FindALengthAboveTheOffer) {
  place(4096, 2048);
  reply(returned(4096, 2049));
  trace.expect("returned_length_is_what_was_placed", "RFC8166-3.4.6-5", Role::server);
}

TEST_F(ReturnedChunkRules, FindALengthAboveWhatWasPlaced) {
  place(1000, 0);
  reply(returned(1004, 0));
  trace.expect("returned_length_is_what_was_placed", "RFC8166-3.4.6-5", Role::server);
}

TEST_F(ReturnedChunkRules, FindRoundupInAWriteChunk) {
  place(1004, 0);
  reply(returned(1001, 0));
  trace.expect("no_roundup_in_write_chunks", "RFC8166-3.4.6.2-2", Role::server);
}

TEST_F(ReturnedChunkRules, FindASegmentUsedBeforeTheOneBeforeIsFull) {
  place(1000, 8);
  reply(returned(1000, 8));
  trace.expect("segments_are_filled_in_order", "RFC8166-3.4.6-3", Role::server);
}

TEST_F(ReturnedChunkRules, FindAGap) {
  trace.write(kFirst.handle, kFirst.offset, 100);
  trace.write(kFirst.handle, kFirst.offset + 200, 800);
  reply(returned(1000, 0));
  trace.expect("segments_are_filled_in_order", "RFC8166-3.4.6-3", Role::server);
}

TEST_F(ReturnedChunkRules, FindAReplyChunkLengthThatWasNotPlaced) {
  wire::Header head = returned(0, 0);
  head.proc = wire::Procedure::nomsg;
  head.reply_chunk = {with_length(kReply, 400)};
  trace.write(kReply.handle, kReply.offset, 396);
  trace.send(Role::server, head);
  trace.expect("reply_chunk_length_is_what_was_placed", "RFC8166-4.3.3-5", Role::server);
}

TEST(ReturnedChunks, FindChunksThatWereNotOffered) {
  TraceBuilder reply_chunk;
  reply_chunk.open();
  reply_chunk.call(kXid);
  wire::Header head = header(kXid);
  head.has_reply_chunk = true;
  head.reply_chunk = {with_length(kReply, 0)};
  reply_chunk.send(Role::server, head, rpc_reply(kXid));
  reply_chunk.expect("nothing_else_is_returned", "RFC8166-3.4.3-2", Role::server);

  TraceBuilder write_list;
  write_list.open();
  write_list.call(kXid);
  head = header(kXid);
  head.write_list.add({});
  write_list.send(Role::server, head, rpc_reply(kXid));
  write_list.expect("nothing_else_is_returned", "RFC8166-3.4.3-2", Role::server);
}

TEST(ReturnedChunks, LengthsAreNotComparedWhenWritesAreNotSeen) {
  TraceBuilder trace(Visibility{.rdma_operations = false});
  trace.open();
  trace.send(Role::client, offer(), rpc_call(kXid));
  trace.send(Role::server, returned(4096, 5), rpc_reply(kXid));
  trace.expect_nothing();
}

TEST(ReturnedChunks, LetNfs4ReturnAnEmptyChunkForAnUnusedOne) {
  for (const std::uint32_t version : {3u, 4u}) {
    TraceBuilder trace;
    trace.open();
    wire::Header head = header(kXid);
    head.write_list.add(std::vector{kFirst});
    trace.send(Role::client, head, rpc_call(kXid, 100003, version, version == 3 ? 6 : 1));
    head = header(kXid);
    head.write_list.add({});
    trace.send(Role::server, head, rpc_reply(kXid, words({5, 0})));
    EXPECT_EQ(trace.judge().findings().size(), version == 4 ? 0u : 1u) << "version " << version;
  }
}

TEST(ReturnedChunks, OverlappingOffersAreNotHeldAgainstTheServer) {
  TraceBuilder trace;
  trace.open();
  wire::Header head = header(kXid);
  head.write_list.add(std::vector{kFirst});
  head.write_list.add(std::vector{kFirst});
  trace.send(Role::client, head, rpc_call(kXid));
  trace.write(kFirst.handle, kFirst.offset, 100);
  trace.write(kFirst.handle, kFirst.offset, 40);
  head = header(kXid);
  head.write_list.add(std::vector{with_length(kFirst, 100)});
  head.write_list.add(std::vector{with_length(kFirst, 40)});
  trace.send(Role::server, head, rpc_reply(kXid));
  trace.expect_nothing();
}

}  // namespace
}  // namespace steertag::conformance
