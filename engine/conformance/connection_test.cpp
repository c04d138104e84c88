// Private data, thresholds, Send with Invalidate, and what follows a Terminate.
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

Bytes private_data(const wire::PrivateDataDraft& draft) {
  Bytes out;
  wire::encode(draft, out);
  return out;
}

TEST(PrivateDataRules, AcceptNoneAndForeignData) {
  TraceBuilder trace;
  trace.open({}, {});
  trace.expect_nothing();
  TraceBuilder foreign;
  foreign.event(Role::client, trace::Connect{words({1, 2, 3})});
  foreign.expect_nothing();
}

TEST(PrivateDataRules, FindReservedBitsOfEitherSide) {
  wire::PrivateDataDraft draft;
  draft.flags = 0x81;
  TraceBuilder client;
  client.event(Role::client, trace::Connect{private_data(draft)});
  client.expect("reserved_bits_are_zero", "RFC8797-4-7", Role::client);
  TraceBuilder server;
  server.event(Role::server, trace::Accept{private_data(draft)});
  server.expect("reserved_bits_are_zero", "RFC8797-4-7", Role::server);
  TraceBuilder rejected;
  rejected.event(Role::server, trace::Reject{private_data(draft)});
  rejected.expect("reserved_bits_are_zero", "RFC8797-4-7", Role::server);
}

TEST(PrivateDataRules, FindAnotherVersion) {
  wire::PrivateDataDraft draft;
  draft.version = 2;
  TraceBuilder trace;
  trace.event(Role::client, trace::Connect{private_data(draft)});
  trace.expect("private_data_version_is_one", "RFC8797-4-6", Role::client);
}

TEST(PrivateDataRules, FindACutFormat) {
  Bytes octets = private_data({});
  octets.resize(6);
  TraceBuilder trace;
  trace.event(Role::server, trace::Accept{octets});
  trace.expect("private_data_has_eight_octets", "RFC8797-4-3", Role::server);
}

/// A call or reply whose Send has `size` octets.
void send_sized(TraceBuilder& trace, Role role, std::size_t size) {
  Bytes payload = role == Role::client ? rpc_call(1) : rpc_reply(1);
  payload.resize(size - wire::kSmallestHeaderBytes);
  trace.send(role, header(1), payload);
}

TEST(ThresholdRules, UseTheSmallerOfBothAnnouncements) {
  const wire::PrivateData client{true, 8192, 2048};
  const wire::PrivateData server{true, 4096, 4096};
  TraceBuilder legal;
  legal.open(client, server);
  send_sized(legal, Role::client, 4096);
  send_sized(legal, Role::server, 2048);
  legal.expect_nothing();

  TraceBuilder large_call;
  large_call.open(client, server);
  send_sized(large_call, Role::client, 4100);
  large_call.expect("client_keeps_negotiated_threshold", "RFC8797-4.2-4", Role::client);

  TraceBuilder large_reply;
  large_reply.open(client, server);
  large_reply.call(1);
  send_sized(large_reply, Role::server, 2052);
  large_reply.expect("server_keeps_negotiated_threshold", "RFC8797-4.2-5", Role::server);
}

TEST(ThresholdRules, AreAtTheirDefaultUnlessBothSidesAnnounce) {
  TraceBuilder legal;
  legal.open({}, announcement());
  send_sized(legal, Role::client, 1024);
  send_sized(legal, Role::server, 1024);
  legal.expect_nothing();

  TraceBuilder trace;
  trace.open({}, announcement());
  send_sized(trace, Role::client, 1028);
  trace.expect("default_threshold_is_kept", "RFC8166-3.3.3-7", Role::client);
}

TEST(ThresholdRules, AreUnknownInTheMiddleOfAConnection) {
  TraceBuilder trace;
  send_sized(trace, Role::client, 60000);
  trace.expect_nothing();
}

constexpr std::uint32_t kStag = 0xabcd;

/// A call that offers a reply chunk under kStag, and the inline reply to it.
void call_with_memory(TraceBuilder& trace) {
  wire::Header head = header(1);
  head.has_reply_chunk = true;
  head.reply_chunk.push_back({kStag, 4096, 0x1000});
  trace.send(Role::client, head, rpc_call(1));
}

void reply_with_memory(TraceBuilder& trace, std::uint32_t invalidated) {
  wire::Header head = header(1);
  head.has_reply_chunk = true;
  head.reply_chunk.push_back({kStag, 0, 0x1000});
  trace.send(Role::server, head, rpc_reply(1), invalidated);
}

TEST(InvalidationRules, AcceptAnStagOfTheCall) {
  TraceBuilder trace;
  trace.open();
  call_with_memory(trace);
  reply_with_memory(trace, kStag);
  trace.expect_nothing();
}

TEST(InvalidationRules, FindAnStagThatTheCallDidNotOffer) {
  TraceBuilder trace;
  trace.open();
  call_with_memory(trace);
  reply_with_memory(trace, kStag + 1);
  trace.expect("invalidated_stag_belongs_to_the_xid", "RFC8797-4.1-2", Role::server);
}

TEST(InvalidationRules, FindItWithoutBothFlags) {
  for (const bool client : {false, true}) {
    TraceBuilder trace;
    trace.open(announcement(client), announcement(false));
    call_with_memory(trace);
    reply_with_memory(trace, kStag);
    trace.expect("invalidation_needs_both_flags", "RFC8797-4.1-3", Role::server);
  }
}

TEST(InvalidationRules, FindItInACall) {
  TraceBuilder trace;
  trace.open();
  trace.send(Role::client, header(1), rpc_call(1), kStag);
  trace.expect("invalidated_stag_belongs_to_the_xid", "RFC8797-4.1-2", Role::client);
}

TEST(ConnectionRules, FindWhatFollowsATerminate) {
  TraceBuilder trace;
  trace.open();
  trace.call(1);
  trace.event(Role::client, trace::Terminate{1, 1, 0});
  trace.reply(1);
  trace.event(Role::server, trace::Disconnect{});
  trace.expect_nothing();
  trace.call(2);
  trace.expect("nothing_follows_a_terminate", "RFC5040-5.4-1", Role::client);
}

}  // namespace
}  // namespace steertag::conformance
