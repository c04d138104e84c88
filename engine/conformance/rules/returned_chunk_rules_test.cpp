// Returned chunks: the offered ones, with the lengths that were placed.
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

constexpr std::uint32_t kXid = 1;
constexpr wire::Segment kFirst{0x11, 4096, 0x1000};
constexpr wire::Segment kSecond{0x12, 2048, 0x9000};
constexpr wire::Segment kReply{0x13, 8192, 0xf000};

/// A call that offers a write chunk of two segments, an empty one, and a reply chunk.
wire::Header offer() {
  return with_reply_chunk(with_write(with_write(header(kXid), {kFirst, kSecond}), {}), kReply);
}

/// The returned chunks after `first` and `second` octets were placed, with an inline reply.
wire::Header returned(std::uint32_t first, std::uint32_t second) {
  const wire::Header head =
      with_write(header(kXid), {with_length(kFirst, first), with_length(kSecond, second)});
  return with_reply_chunk(with_write(head, {}), with_length(kReply, 0));
}

class ReturnedChunkRules : public testing::Test {
 protected:
  ReturnedChunkRules() {
    trace.open();
    trace.call(offer());
  }
  void place(std::uint32_t first, std::uint32_t second) {
    if (first > 0) trace.write(kFirst.handle, kFirst.offset, first);
    if (second > 0) trace.write(kSecond.handle, kSecond.offset, second);
  }

  TraceBuilder trace;
};

TEST_F(ReturnedChunkRules, AcceptWhatWasPlaced) {
  place(4096, 5);
  trace.reply(returned(4096, 5)).expect_nothing();
}

TEST_F(ReturnedChunkRules, AcceptWritesInPieces) {
  for (std::uint64_t at = 0; at < 4096; at += 1024) {
    trace.write(kFirst.handle, kFirst.offset + at, 1024);
  }
  trace.write(kSecond.handle, kSecond.offset + 3, 2).write(kSecond.handle, kSecond.offset, 3);
  trace.reply(returned(4096, 5)).expect_nothing();
}

TEST_F(ReturnedChunkRules, AcceptAnUnusedChunkThatWasWrittenTo) {
  place(4096, 5);
  trace.reply(returned(0, 0)).expect_nothing();
}

TEST_F(ReturnedChunkRules, FindAMissingWriteChunk) {
  trace.reply(with_reply_chunk(header(kXid), with_length(kReply, 0)))
      .expect("write_list_is_returned", "RFC8166-3.4.6-4", Role::server);
}

TEST_F(ReturnedChunkRules, FindAMissingSegment) {
  const wire::Header head = with_write(with_write(header(kXid), {with_length(kFirst, 0)}), {});
  trace.reply(with_reply_chunk(head, with_length(kReply, 0)))
      .expect("write_list_is_returned", "RFC8166-3.4.6-4", Role::server);
}

TEST_F(ReturnedChunkRules, FindAnotherHandleOrOffset) {
  wire::Header head = returned(0, 0);
  head.write_list.at(0)[1].offset += 8;
  trace.reply(head).expect("write_list_is_returned", "RFC8166-3.4.6-4", Role::server);
}

TEST_F(ReturnedChunkRules, FindAnEmptyChunkThatGrew) {
  wire::Header head = returned(0, 0);
  head.write_list.extend(with_length(kSecond, 0));
  trace.reply(head).expect("empty_chunk_is_returned_empty", "RFC8166-4.3.2.3-3", Role::server);
}

TEST_F(ReturnedChunkRules, FindAMissingReplyChunk) {
  wire::Header head = returned(0, 0);
  head.has_reply_chunk = false;
  head.reply_chunk.clear();
  trace.reply(head).expect("reply_chunk_is_returned", "RFC8166-4.3.3-4", Role::server);
}

TEST_F(ReturnedChunkRules, FindAnotherReplyChunk) {
  wire::Header head = returned(0, 0);
  head.reply_chunk[0].handle = 0x99;
  trace.reply(head).expect("reply_chunk_is_returned", "RFC8166-4.3.3-4", Role::server);
}

TEST_F(ReturnedChunkRules, FindALengthAboveTheOffer) {
  place(4096, 2048);
  trace.reply(returned(4096, 2049))
      .expect("returned_length_is_what_was_placed", "RFC8166-3.4.6-5", Role::server);
}

TEST_F(ReturnedChunkRules, FindALengthAboveWhatWasPlaced) {
  place(1000, 0);
  trace.reply(returned(1004, 0))
      .expect("returned_length_is_what_was_placed", "RFC8166-3.4.6-5", Role::server);
}

TEST_F(ReturnedChunkRules, FindRoundupInAWriteChunk) {
  place(1004, 0);
  trace.reply(returned(1001, 0))
      .expect("no_roundup_in_write_chunks", "RFC8166-3.4.6.2-2", Role::server);
}

TEST_F(ReturnedChunkRules, FindASegmentUsedBeforeTheOneBeforeIsFull) {
  place(1000, 8);
  trace.reply(returned(1000, 8))
      .expect("segments_are_filled_in_order", "RFC8166-3.4.6-3", Role::server);
}

TEST_F(ReturnedChunkRules, FindAGap) {
  trace.write(kFirst.handle, kFirst.offset, 100).write(kFirst.handle, kFirst.offset + 200, 800);
  trace.reply(returned(1000, 0))
      .expect("segments_are_filled_in_order", "RFC8166-3.4.6-3", Role::server);
}

TEST_F(ReturnedChunkRules, FindAReplyChunkLengthThatWasNotPlaced) {
  wire::Header head = returned(0, 0);
  head.proc = wire::Procedure::nomsg;
  head.reply_chunk = {with_length(kReply, 400)};
  trace.write(kReply.handle, kReply.offset, 396)
      .reply(head)
      .expect("reply_chunk_length_is_what_was_placed", "RFC8166-4.3.3-5", Role::server);
}

TEST(ReturnedChunks, FindChunksThatWereNotOffered) {
  for (const wire::Header& head :
       {with_reply_chunk(header(kXid), with_length(kReply, 0)), with_write(header(kXid), {})}) {
    opened().call(kXid).reply(head).expect("nothing_else_is_returned", "RFC8166-3.4.3-2",
                                           Role::server);
  }
}

TEST(ReturnedChunks, LengthsAreNotComparedWhenWritesAreNotSeen) {
  TraceBuilder trace(Visibility{.rdma_operations = false});
  trace.open().call(offer()).reply(returned(4096, 5)).expect_nothing();
}

TEST(ReturnedChunks, LetNfs4ReturnAnEmptyChunkForAnUnusedOne) {
  for (const std::uint32_t version : {3u, 4u}) {
    TraceBuilder trace = opened();
    trace.send(Role::client, with_write(header(kXid), {kFirst}),
               rpc_call(kXid, 100003, version, version == 3 ? 6 : 1));
    trace.send(Role::server, with_write(header(kXid), {}), rpc_reply(kXid, words({5, 0})));
    EXPECT_EQ(trace.findings(), version == 4 ? 0u : 1u) << "version " << version;
  }
}

TEST(ReturnedChunks, OverlappingOffersAreNotHeldAgainstTheServer) {
  const auto chunks = [](std::uint32_t first, std::uint32_t second) {
    return with_write(with_write(header(kXid), {with_length(kFirst, first)}),
                      {with_length(kFirst, second)});
  };
  opened()
      .call(chunks(kFirst.length, kFirst.length))
      .write(kFirst.handle, kFirst.offset, 100)
      .write(kFirst.handle, kFirst.offset, 40)
      .reply(chunks(100, 40))
      .expect_nothing();
}

}  // namespace
}  // namespace steertag::conformance
