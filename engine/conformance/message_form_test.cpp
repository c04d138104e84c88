// The message form and the chunks of a call: where the payload stream is, and what positions say.
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

constexpr std::uint32_t kXid = 1;

wire::ReadSegment read_segment(std::uint32_t position, std::uint32_t length) {
  return {position, {0x77, length, 0x10000}};
}

wire::Header with_reply_chunk(wire::Header head, std::uint32_t length) {
  head.has_reply_chunk = true;
  head.reply_chunk = {{0x88, length, 0x20000}};
  return head;
}

TEST(FormRules, AcceptLongCallsAndLongReplies) {
  TraceBuilder trace;
  trace.open();
  wire::Header call = with_reply_chunk(nomsg(kXid), 8192);
  call.read_list.push_back(read_segment(0, 96));
  trace.send(Role::client, call);
  trace.read(0x77, 0x10000, 96);
  trace.read_response(96);
  trace.write(0x88, 0x20000, 200);
  trace.send(Role::server, with_reply_chunk(nomsg(kXid), 200));
  trace.expect_nothing();
}

TEST(FormRules, AcceptAnInlineReplyToALongCall) {
  TraceBuilder trace;
  trace.open();
  wire::Header call = with_reply_chunk(nomsg(kXid), 8192);
  call.read_list.push_back(read_segment(0, 96));
  trace.send(Role::client, call);
  trace.send(Role::server, with_reply_chunk(header(kXid), 0), rpc_reply(kXid));
  trace.expect_nothing();
}

TEST(FormRules, FindANomsgCallWithoutItsPayloadStream) {
  TraceBuilder trace;
  trace.open();
  trace.send(Role::client, with_reply_chunk(nomsg(kXid), 8192));
  trace.expect("nomsg_holds_its_payload_stream", "RFC8166-4.2.4-8", Role::client);
  trace.err_chunk(Role::server, kXid);
  EXPECT_EQ(trace.judge().findings().size(), 1u) << "the server may complain";
}

TEST(FormRules, FindANomsgReplyWithoutItsPayloadStream) {
  TraceBuilder trace;
  trace.open();
  trace.send(Role::client, with_reply_chunk(header(kXid), 8192), rpc_call(kXid));
  trace.send(Role::server, with_reply_chunk(nomsg(kXid), 0));
  trace.expect("nomsg_holds_its_payload_stream", "RFC8166-4.2.4-8", Role::server);
}

TEST(FormRules, FindAPayloadStreamBesideAPositionZeroChunk) {
  TraceBuilder trace;
  trace.open();
  wire::Header call = header(kXid);
  call.read_list.push_back(read_segment(0, 96));
  trace.send(Role::client, call, rpc_call(kXid));
  trace.expect("position_zero_chunk_makes_a_nomsg", "RFC8166-3.5.3-2", Role::client);
}

TEST(FormRules, FindAnInlineReplyWithAUsedReplyChunk) {
  TraceBuilder trace;
  trace.open();
  trace.send(Role::client, with_reply_chunk(header(kXid), 8192), rpc_call(kXid));
  trace.write(0x88, 0x20000, 200);
  trace.send(Role::server, with_reply_chunk(header(kXid), 200), rpc_reply(kXid));
  trace.expect("inline_reply_leaves_reply_chunk_unused", "RFC8166-4.3.3-5", Role::server);
}

TEST(FormRules, FindLongPayloadStreamsWithoutRoundup) {
  TraceBuilder call;
  call.open();
  wire::Header head = nomsg(kXid);
  head.read_list.push_back(read_segment(0, 97));
  call.send(Role::client, head);
  call.expect("long_payload_is_rounded_up", "RFC8166-3.5.3-9", Role::client);

  TraceBuilder reply;
  reply.open();
  reply.send(Role::client, with_reply_chunk(header(kXid), 8192), rpc_call(kXid));
  reply.write(0x88, 0x20000, 201);
  reply.send(Role::server, with_reply_chunk(nomsg(kXid), 201));
  reply.expect("long_payload_is_rounded_up", "RFC8166-3.5.3-9", Role::server);
}

TEST(FormRules, FindInlinePayloadStreamsWithoutRoundup) {
  for (const Role role : {Role::client, Role::server}) {
    TraceBuilder trace;
    trace.open();
    if (role == Role::server) trace.call(kXid);
    Bytes payload = role == Role::client ? rpc_call(kXid) : rpc_reply(kXid);
    payload.resize(payload.size() + 3);
    trace.send(role, header(kXid), payload);
    trace.expect("inline_payload_is_rounded_up", "RFC8166-4-3", role);
  }
}

/// A call with 40 octets of payload stream and these read segments.
TraceBuilder call_with(const std::vector<wire::ReadSegment>& list) {
  TraceBuilder trace;
  trace.open();
  wire::Header call = header(kXid);
  call.read_list = list;
  trace.send(Role::client, call, rpc_call(kXid));
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
    TraceBuilder trace;
    trace.open();
    wire::Header call = nomsg(kXid);
    call.read_list = {read_segment(0, 96), read_segment(legal ? 96 : 100, 4097)};
    trace.send(Role::client, call);
    if (legal) {
      trace.expect_nothing();
    } else {
      trace.expect("position_is_inside_the_payload_stream", "RFC8166-3.4.5-2", Role::client);
    }
  }
}

TEST(ChunkRules, FindASegmentThatWrapsAround) {
  for (const std::uint32_t length : {0x100u, 0x101u}) {
    TraceBuilder trace;
    trace.open();
    wire::Header call = header(kXid);
    call.has_reply_chunk = true;
    call.reply_chunk = {{0x88, length, 0xffffffffffffff00}};
    trace.send(Role::client, call, rpc_call(kXid));
    if (length == 0x100) {
      trace.expect_nothing();
    } else {
      trace.expect("segment_ends_inside_64_bits", "RFC8166-2.3.2-1", Role::client);
    }
  }
}

TEST(ChunkRules, FindAReadListInAReply) {
  TraceBuilder trace;
  trace.open();
  trace.call(kXid);
  wire::Header reply = header(kXid);
  reply.read_list.push_back(read_segment(24, 8));
  trace.send(Role::server, reply, rpc_reply(kXid));
  trace.expect("reply_has_no_read_list", "RFC8166-4.3.1-3", Role::server);
}

TEST(ChunkRules, FindALongReplyInAReadChunk) {
  TraceBuilder trace;
  trace.open();
  trace.call(kXid);
  wire::Header reply = nomsg(kXid);
  reply.read_list.push_back(read_segment(0, 800));
  trace.send(Role::server, reply);
  ASSERT_FALSE(trace.judge().findings().empty());
  EXPECT_EQ(trace.judge().findings()[0].rule, "reply_has_no_read_list");
}

TEST(ChunkRules, AcceptALongReverseCall) {
  TraceBuilder trace;
  trace.open();
  wire::Header call = nomsg(9, 1);
  call.read_list.push_back(read_segment(0, 800));
  trace.send(Role::server, call);
  trace.read(0x77, 0x10000, 800, Role::client);
  trace.reverse_reply(9);
  trace.expect_nothing();
}

}  // namespace
}  // namespace steertag::conformance
