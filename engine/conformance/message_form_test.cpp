// Message form and chunks of a call: the payload stream's place, and the meaning of positions.
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

constexpr std::uint32_t kXid = 1;

wire::ReadSegment read_segment(std::uint32_t position, std::uint32_t length) {
  return {position, {0x77, length, 0x10000}};
}

wire::Header replying(const wire::Header& head, std::uint32_t length) {
  return with_reply_chunk(head, {0x88, length, 0x20000});
}

/// A call with a position-zero read chunk of `length` octets.
wire::Header reading(const wire::Header& head, std::uint32_t length) {
  return with_read(head, 0, {0x77, length, 0x10000});
}

TEST(FormRules, AcceptLongCallsAndLongReplies) {
  opened()
      .call(reading(replying(nomsg(kXid), 8192), 96))
      .read(0x77, 0x10000, 96)
      .read_response(96)
      .write(0x88, 0x20000, 200)
      .reply(replying(nomsg(kXid), 200))
      .expect_nothing();
}

TEST(FormRules, AcceptAnInlineReplyToALongCall) {
  opened()
      .call(reading(replying(nomsg(kXid), 8192), 96))
      .reply(replying(header(kXid), 0))
      .expect_nothing();
}

TEST(FormRules, FindANomsgCallWithoutItsPayloadStream) {
  TraceBuilder trace = opened();
  trace.call(replying(nomsg(kXid), 8192))
      .expect("nomsg_holds_its_payload_stream", "RFC8166-4.2.4-8", Role::client);
  trace.err_chunk(Role::server, kXid);
  EXPECT_EQ(trace.findings(), 1u) << "the server may complain";
}

TEST(FormRules, FindANomsgReplyWithoutItsPayloadStream) {
  opened()
      .call(replying(header(kXid), 8192))
      .reply(replying(nomsg(kXid), 0))
      .expect("nomsg_holds_its_payload_stream", "RFC8166-4.2.4-8", Role::server);
}

TEST(FormRules, FindAPayloadStreamBesideAPositionZeroChunk) {
  opened()
      .call(reading(header(kXid), 96))
      .expect("position_zero_chunk_makes_a_nomsg", "RFC8166-3.5.3-2", Role::client);
}

TEST(FormRules, FindAnInlineReplyWithAUsedReplyChunk) {
  opened()
      .call(replying(header(kXid), 8192))
      .write(0x88, 0x20000, 200)
      .reply(replying(header(kXid), 200))
      .expect("inline_reply_leaves_reply_chunk_unused", "RFC8166-4.3.3-5", Role::server);
}

TEST(FormRules, FindLongPayloadStreamsWithoutRoundup) {
  opened()
      .call(reading(nomsg(kXid), 97))
      .expect("long_payload_is_rounded_up", "RFC8166-3.5.3-9", Role::client);

  opened()
      .call(replying(header(kXid), 8192))
      .write(0x88, 0x20000, 201)
      .reply(replying(nomsg(kXid), 201))
      .expect("long_payload_is_rounded_up", "RFC8166-3.5.3-9", Role::server);
}

TEST(FormRules, FindInlinePayloadStreamsWithoutRoundup) {
  for (const Role role : {Role::client, Role::server}) {
    TraceBuilder trace = opened();
    if (role == Role::server) trace.call(kXid);
    Bytes payload = role == Role::client ? rpc_call(kXid) : rpc_reply(kXid);
    payload.resize(payload.size() + 3);
    trace.send(role, header(kXid), payload)
        .expect("inline_payload_is_rounded_up", "RFC8166-4-3", role);
  }
}

/// A reply with a result of `length` octets in its write chunk, and `odd` octets too many inline.
TraceBuilder reduced_result(std::uint32_t length, std::size_t odd) {
  const auto with_result = [](std::uint32_t octets) {
    return with_write(header(kXid), {{0x88, octets, 0x20000}});
  };
  TraceBuilder trace = opened();
  trace.call(with_result(8192)).write(0x88, 0x20000, length);
  Bytes payload = rpc_reply(kXid);
  payload.resize(payload.size() + odd);
  trace.send(Role::server, with_result(length), payload);
  return trace;
}

TEST(FormRules, FindTheRoundupOfAReducedResult) {
  reduced_result(201, 0).expect_nothing();
  reduced_result(201, 3).expect("reduced_results_leave_no_roundup", "RFC8166-3.4.4.4-2",
                                Role::server);
  reduced_result(203, 1).expect("reduced_results_leave_no_roundup", "RFC8166-3.4.4.4-2",
                                Role::server);
  reduced_result(201, 1).expect("inline_payload_is_rounded_up", "RFC8166-4-3", Role::server);
}

/// A call with 40 octets of payload stream and these read segments.
TraceBuilder call_with(const std::vector<wire::ReadSegment>& list) {
  wire::Header call = header(kXid);
  call.read_list = list;
  TraceBuilder trace = opened();
  trace.call(call);
  return trace;
}

TEST(ChunkRules, AcceptPositionsInTheUnreducedStream) {
  call_with({read_segment(40, 4097)}).expect_nothing();
  call_with({read_segment(40, 4096), read_segment(40, 1)}).expect_nothing();
  call_with({read_segment(24, 5), read_segment(48, 9)}).expect_nothing();
  call_with({read_segment(48, 9), read_segment(24, 5)}).expect_nothing();
  call_with({read_segment(24, 5), read_segment(24 + 8 + 16, 3)}).expect_nothing();
}

TEST(ChunkRules, FindAPositionBeyondThePayloadStream) {
  call_with({read_segment(44, 8)})
      .expect("position_is_inside_the_payload_stream", "RFC8166-3.4.5-2", Role::client);
  call_with({read_segment(24, 5), read_segment(24 + 8 + 20, 3)})
      .expect("position_is_inside_the_payload_stream", "RFC8166-3.4.5-2", Role::client);
  call_with({read_segment(0xfffffffc, 0xffffffff), read_segment(24, 5)})
      .expect("position_is_inside_the_payload_stream", "RFC8166-3.4.5-2", Role::client);
}

TEST(ChunkRules, FindAPositionInsideAnotherChunk) {
  call_with({read_segment(24, 100), read_segment(28, 4)})
      .expect("position_is_inside_the_payload_stream", "RFC8166-3.4.5-2", Role::client);
}

TEST(ChunkRules, CountPositionsOfALongCallInItsPositionZeroChunk) {
  for (const bool legal : {true, false}) {
    TraceBuilder trace = opened();
    wire::Header call = nomsg(kXid);
    call.read_list = {read_segment(0, 96), read_segment(legal ? 96 : 100, 4097)};
    trace.call(call);
    if (legal) {
      trace.expect_nothing();
    } else {
      trace.expect("position_is_inside_the_payload_stream", "RFC8166-3.4.5-2", Role::client);
    }
  }
}

TEST(ChunkRules, FindASegmentThatWrapsAround) {
  for (const std::uint32_t length : {0x100u, 0x101u}) {
    TraceBuilder trace = opened();
    trace.call(with_reply_chunk(header(kXid), {0x88, length, 0xffffffffffffff00}));
    if (length == 0x100) {
      trace.expect_nothing();
    } else {
      trace.expect("segment_ends_inside_64_bits", "RFC8166-2.3.2-1", Role::client);
    }
  }
}

TEST(ChunkRules, FindAReadListInAReply) {
  opened()
      .call(kXid)
      .reply(with_read(header(kXid), 24, {0x77, 8, 0x10000}))
      .expect("reply_has_no_read_list", "RFC8166-4.3.1-3", Role::server);
}

TEST(ChunkRules, FindALongReplyInAReadChunk) {
  TraceBuilder trace = opened();
  trace.call(kXid).reply(reading(nomsg(kXid), 800));
  ASSERT_FALSE(trace.judge().findings().empty());
  EXPECT_EQ(trace.judge().findings()[0].rule, "reply_has_no_read_list");
}

TEST(ChunkRules, AcceptALongReverseCall) {
  opened()
      .send(Role::server, reading(nomsg(9, 1), 800))
      .read(0x77, 0x10000, 800, Role::client)
      .reverse_reply(9)
      .expect_nothing();
}

}  // namespace
}  // namespace steertag::conformance
