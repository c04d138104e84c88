// Private data, thresholds, Send with Invalidate, and events after a Terminate.
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

Bytes private_data(const wire::PrivateDataDraft& draft) {
  Bytes out;
  wire::encode(draft, out);
  return out;
}

TEST(PrivateDataRules, AcceptNoneAndForeignData) {
  TraceBuilder trace = opened({}, {});
  trace.expect_nothing();
  TraceBuilder foreign;
  foreign.event(Role::client, trace::Connect{words({1, 2, 3})}).expect_nothing();
}

TEST(PrivateDataRules, FindReservedBitsOfEitherSide) {
  wire::PrivateDataDraft draft;
  draft.flags = 0x81;
  TraceBuilder client;
  client.event(Role::client, trace::Connect{private_data(draft)})
      .expect("reserved_bits_are_zero", "RFC8797-4-7", Role::client);
  TraceBuilder server;
  server.event(Role::server, trace::Accept{private_data(draft)})
      .expect("reserved_bits_are_zero", "RFC8797-4-7", Role::server);
  TraceBuilder rejected;
  rejected.event(Role::server, trace::Reject{private_data(draft)})
      .expect("reserved_bits_are_zero", "RFC8797-4-7", Role::server);
}

TEST(PrivateDataRules, FindAnotherVersion) {
  wire::PrivateDataDraft draft;
  draft.version = 2;
  TraceBuilder trace;
  trace.event(Role::client, trace::Connect{private_data(draft)})
      .expect("private_data_version_is_one", "RFC8797-4-6", Role::client);
}

TEST(PrivateDataRules, FindACutFormat) {
  Bytes octets = private_data({});
  octets.resize(6);
  TraceBuilder trace;
  trace.event(Role::server, trace::Accept{octets})
      .expect("private_data_has_eight_octets", "RFC8797-4-3", Role::server);
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
  TraceBuilder legal = opened(client, server);
  send_sized(legal, Role::client, 4096);
  send_sized(legal, Role::server, 2048);
  legal.expect_nothing();

  TraceBuilder large_call = opened(client, server);
  send_sized(large_call, Role::client, 4100);
  large_call.expect("client_keeps_negotiated_threshold", "RFC8797-4.2-4", Role::client);

  TraceBuilder large_reply = opened(client, server);
  large_reply.call(1);
  send_sized(large_reply, Role::server, 2052);
  large_reply.expect("server_keeps_negotiated_threshold", "RFC8797-4.2-5", Role::server);
}

TEST(ThresholdRules, AreAtTheirDefaultUnlessBothSidesAnnounce) {
  TraceBuilder legal = opened({}, announcement());
  send_sized(legal, Role::client, 1024);
  send_sized(legal, Role::server, 1024);
  legal.expect_nothing();

  TraceBuilder trace = opened({}, announcement());
  send_sized(trace, Role::client, 1028);
  trace.expect("default_threshold_is_kept", "RFC8166-3.3.3-7", Role::client);
}

TEST(ThresholdRules, AreUnknownInTheMiddleOfAConnection) {
  TraceBuilder trace;
  send_sized(trace, Role::client, 60000);
  trace.expect_nothing();
}

constexpr std::uint32_t kStag = 0xabcd;

/// A call that offers a reply chunk under kStag, and the inline reply that invalidates an STag.
TraceBuilder invalidating(TraceBuilder trace, std::uint32_t invalidated) {
  trace.call(with_reply_chunk(header(1), {kStag, 4096, 0x1000}))
      .send(Role::server, with_reply_chunk(header(1), {kStag, 0, 0x1000}), rpc_reply(1),
            invalidated);
  return trace;
}

TEST(InvalidationRules, AcceptAnStagOfTheCall) {
  invalidating(opened(), kStag).expect_nothing();
}

TEST(InvalidationRules, FindAnStagThatTheCallDidNotOffer) {
  invalidating(opened(), kStag + 1)
      .expect("invalidated_stag_belongs_to_the_xid", "RFC8797-4.1-2", Role::server);
}

TEST(InvalidationRules, FindItWithoutBothFlags) {
  for (const bool client : {false, true}) {
    invalidating(opened(announcement(client), announcement(false)), kStag)
        .expect("invalidation_needs_both_flags", "RFC8797-4.1-3", Role::server);
  }
}

TEST(InvalidationRules, FindItInACall) {
  opened()
      .send(Role::client, header(1), rpc_call(1), kStag)
      .expect("invalidated_stag_belongs_to_the_xid", "RFC8797-4.1-2", Role::client);
}

TEST(ConnectionRules, FindWhatFollowsATerminate) {
  opened()
      .call(1)
      .event(Role::client, trace::Terminate{1, 1, 0})
      .reply(1)
      .event(Role::server, trace::Disconnect{})
      .expect_nothing()
      .call(2)
      .expect("nothing_follows_a_terminate", "RFC5040-5.4-1", Role::client);
}

TEST(ConnectionRules, FindARefusalOfARead) {
  opened()
      .call(1)
      .event(Role::client, trace::RdmaReadRefused{1, {0, 1, 0}})
      .expect("read_refusal_was_agreed", "RFC5040-4.1-1", Role::client);
}

}  // namespace
}  // namespace steertag::conformance
