// The judge as a whole: limits, and joined connections without false findings.
#include "conformance/judge.h"

#include "conformance/call_table.h"
#include "conformance/message_observer.h"
#include "conformance/pending_reads.h"
#include "conformance/segment_table.h"
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

TEST(Judge, CountsFindingsBeyondItsLimit) {
  TraceBuilder trace = opened();
  for (std::uint32_t i = 0; i < kMostFindings + 10; ++i) trace.err_chunk(Role::server, i);
  EXPECT_EQ(trace.findings(), kMostFindings);
  EXPECT_EQ(trace.judge().dropped_findings(), 10u);
}

TEST(Judge, StillJudgesMessagesOfAConnectionJoinedLate) {
  TraceBuilder trace;
  trace.reply(1, 0).expect("grant_is_not_zero", "RFC8166-3.3.1-5", Role::server);
}

TEST(Judge, AReadListIsACallsWhateverWasNotSeen) {
  const wire::Header misplaced = with_read(nomsg(7), 4, {8, 100, 0x1000});
  TraceBuilder whole = opened();
  TraceBuilder joined;
  whole.call(misplaced);
  joined.call(misplaced);
  const std::vector<Finding>& known = whole.judge().findings();
  const std::vector<Finding>& found = joined.judge().findings();
  ASSERT_EQ(known.size(), found.size());
  ASSERT_FALSE(known.empty());
  for (std::size_t i = 0; i < known.size(); ++i) EXPECT_EQ(found[i].rule, known[i].rule);
}

TEST(Judge, ALongCallbackIsNoReplyWhereCallbacksMayBeUnseen) {
  // RFC 8167 5.1: calls of both directions may have the same XID.
  opened()
      .forget_history()
      .call(header(7))
      .send(Role::server, with_read(nomsg(7), 0, {8, 400, 0x1000}))
      .expect_nothing();
}

TEST(Judge, WithoutSightNothingIsUnsolicited) {
  for (const bool first : {true, false}) {
    TraceBuilder trace = opened();
    if (!first) trace.exchange(1);
    trace.stop_observing()
        .reply(7)
        .write(1, 2, 3)
        .err_chunk(Role::server, 8)
        .expect_nothing()
        .reply(9, 0)
        .expect("grant_is_not_zero", "RFC8166-3.3.1-5", Role::server);
  }
}

TEST(Judge, WithoutItsPastNothingIsUnsolicited) {
  for (const bool first : {true, false}) {
    TraceBuilder trace = opened();
    if (!first) trace.exchange(1);
    trace.forget_history()
        .reply(7)
        .write(1, 2, 3)
        .read(1, 2, 3)
        .read_response(3)
        .err_chunk(Role::server, 8)
        .err_chunk(Role::client, 9)
        .reverse_reply(10)
        .expect_nothing();
  }
}

TEST(Judge, WithoutItsPastStillJudgesWhatNeedsNone) {
  opened().exchange(1).forget_history().reply(2, 0).expect("grant_is_not_zero", "RFC8166-3.3.1-5",
                                                           Role::server);
  Bytes large = rpc_call(2);
  large.resize(4096);
  opened()
      .exchange(1)
      .forget_history()
      .send(Role::client, header(2), large)
      .expect("client_keeps_negotiated_threshold", "RFC8797-4.2-4", Role::client);
  opened()
      .exchange(1)
      .forget_history()
      .send(Role::client, words({2, 1, 32, 0, 2, 0, 0}))
      .expect("read_list_is_xdr", "RFC8166-4.1.2-3", Role::client);
  opened(announcement(false), announcement(false))
      .call(1)
      .forget_history()
      .send(Role::server, header(1), rpc_reply(1), 7)
      .expect("invalidation_needs_both_flags", "RFC8797-4.1-3", Role::server);
}

TEST(Judge, ALossBetweenCallAndReplyIsNoFinding) {
  const wire::Segment segment{7, 4096, 0x1000};
  // The reply uses less than the call offered, and the capture lacks the Writes.
  opened()
      .call(with_write(header(1), {segment}))
      .forget_history()
      .write(7, 0x1000, 8)
      .reply(with_write(header(1), {with_length(segment, 16)}))
      .write(7, 0x1000, 8)
      .send(Role::server, header(2), rpc_reply(2), 99)
      .expect_nothing();
}

TEST(Judge, ALossBetweenReadAndResponseIsNoFinding) {
  const wire::Segment segment{7, 4096, 0x1000};
  opened()
      .call(with_read(header(1), 40, segment))
      .read(7, 0x1000, 4096)
      .read_response(1000)
      .forget_history()
      .reply(1)
      // The response to a Read from before the loss arrives late, and seems to belong to this one.
      .call(with_read(header(2), 40, segment))
      .read(7, 0x1000, 4096)
      .read_response(3096)
      .read_response(4096)
      .reply(2)
      .expect_nothing();
}

TEST(Judge, AnXidUsedAgainAfterALossIsNoFinding) {
  opened().exchange(1).call(5).forget_history().call(5).reply(5).expect_nothing();
}

TEST(Judge, CallsAfterALossGoByAGrantThatWasNotSeen) {
  opened().exchange(1, 2).calls(2, 2).forget_history().calls(10, 30).expect_nothing();
  // The first visible grant is lower, but the calls may have crossed it.
  opened().exchange(1, 2).forget_history().call(2).reply(2, 1).calls(3, 30).expect_nothing();
  // The answer to an unseen call returns no credit.
  opened().exchange(1, 2).forget_history().reply(9, 2).calls(10, 2).expect_nothing();
}

TEST(Judge, CallsBeyondAnyGrantAreFoundAfterALoss) {
  TraceBuilder trace = opened();
  trace.exchange(1).forget_history();
  for (std::uint32_t i = 2; i < kMostUnseenGrant + 2; ++i) trace.exchange(i, 2);
  trace.calls(10000, 2).expect_nothing().call(10002).expect("calls_stay_within_grant",
                                                            "RFC8166-3.3.1-4", Role::client);
}

TEST(Judge, ALossBehindATerminateMayHideAnotherConnection) {
  opened().event(Role::client, trace::Terminate{1, 1, 0}).forget_history().call(2).expect_nothing();
}

TEST(Judge, ALossBeforeTheFirstSendStaysOne) {
  opened().forget_history().reply(3).calls(4, 20).write(1, 2, 3).expect_nothing();
}

TEST(Judge, AnAnswerInALaterVersionMayBeToACallThatWasNotSeen) {
  const Bytes later = words({1, 2, 32, 0, 0, 0, 0});
  opened().exchange(1).forget_history().send(Role::server, later).expect_nothing();
  // A client answers only peers that call it.
  opened()
      .exchange(1)
      .forget_history()
      .send(Role::client, later)
      .expect("version_is_one", "RFC8166-4.2.2-1", Role::client);
}

TEST(Judge, AnAnswerUnderTheXidOfWhatIsDiscardedMayBeToACallThatWasNotSeen) {
  // The client answers a server's call, and receives the answer to its own call of the same XID.
  opened().exchange(1).forget_history().err_chunk(Role::client, 7).reply(7).expect_nothing();
  opened()
      .exchange(1)
      .forget_history()
      .err_chunk(Role::client, 7)
      .err_chunk(Role::server, 7)
      .expect_nothing();
}

TEST(Judge, ALongReplyOfAClientMayBeToACallThatWasNotSeen) {
  const wire::Header head = with_reply_chunk(nomsg(1), {7, 64, 0x1000});
  opened().exchange(1).forget_history().send(Role::client, head).expect_nothing();
}

TEST(Judge, ShowsMessagesBeforeItTakesThemIn) {
  struct Observer : MessageObserver {
    void on_message(const Message& message, const Connection& connection) override {
      kinds.push_back(message.kind);
      outstanding.push_back(connection.direction(Role::client).calls.size());
    }
    std::vector<Kind> kinds;
    std::vector<std::size_t> outstanding;
  } observer;
  Judge judge({}, &observer);
  Bytes call;
  wire::encode(header(1), call);
  Bytes reply = call;
  const Bytes rpc[] = {rpc_call(1), rpc_reply(1)};
  call.insert(call.end(), rpc[0].begin(), rpc[0].end());
  reply.insert(reply.end(), rpc[1].begin(), rpc[1].end());
  judge.on_event({0, 0, Role::client, trace::Send{call, {}}});
  EXPECT_EQ(judge.connection().direction(Role::client).calls.size(), 1u);
  judge.on_event({1, 0, Role::server, trace::Send{reply, {}}});
  EXPECT_EQ(judge.connection().direction(Role::client).calls.size(), 0u);
  EXPECT_EQ(observer.kinds, (std::vector{Kind::call, Kind::reply}));
  EXPECT_EQ(observer.outstanding, (std::vector<std::size_t>{0, 1}));
}

TEST(Judge, SaysWhatWasExpectedAndSeen) {
  TraceBuilder trace = opened();
  trace.exchange(0x10, 2).calls(0x11, 3);
  ASSERT_EQ(trace.findings(), 1u);
  const Finding& finding = trace.judge().findings()[0];
  EXPECT_EQ(finding.expected, "at most 2 outstanding calls, as granted");
  EXPECT_EQ(finding.observed, "rdma_xid 0x00000013 is outstanding call 3");
}

TEST(CallTable, FindsWhatWasInsertedAndNotErased) {
  CallTable table;
  // Multiples of a large power of two collide in few slots.
  for (std::uint32_t i = 0; i < kMostXids; ++i) ASSERT_NE(table.insert(i << 20), nullptr);
  EXPECT_EQ(table.insert(1), nullptr) << "the table is full";
  for (std::uint32_t i = 0; i < kMostXids; i += 2) table.erase(*table.find(i << 20));
  EXPECT_EQ(table.size(), kMostXids / 2);
  for (std::uint32_t i = 0; i < kMostXids; ++i) {
    const Call* call = table.find(i << 20);
    ASSERT_EQ(call != nullptr, i % 2 == 1) << "XID " << (i << 20);
    if (call != nullptr) {
      EXPECT_EQ(call->xid, i << 20);
    }
  }
}

TEST(CallTable, ASerialEndsWithItsUse) {
  CallTable table;
  Call* first = table.insert(1);
  const std::uint32_t index = first->index;
  const std::uint64_t serial = first->serial;
  EXPECT_EQ(table.at(index, serial), first);
  table.erase(*first);
  EXPECT_EQ(table.at(index, serial), nullptr);
  Call* second = table.insert(2);
  EXPECT_EQ(second->index, index) << "records are used again";
  EXPECT_EQ(table.at(index, serial), nullptr);
}

TEST(SegmentTable, HoldsManySegmentsUnderOneStag) {
  SegmentTable table;
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    ids.push_back(*table.add({7, 10, i * 100, SegmentKind::write, 0, i}));
  }
  for (std::uint32_t i = 0; i < 1000; i += 3) table.remove(ids[i], 55);
  std::size_t seen = 0;
  table.each(7, [&](const OfferedSegment& segment) {
    EXPECT_NE(segment.placed % 3, 0u);
    ++seen;
  });
  EXPECT_EQ(seen, table.size());
  EXPECT_EQ(table.finished_call(7), 55u);
  EXPECT_EQ(table.finished_call(8), std::nullopt);
}

TEST(PendingReads, CompleteInOrder) {
  PendingReads reads;
  for (std::uint32_t i = 0; i < 100; ++i) reads.push({i, 1, 10});
  std::vector<std::uint32_t> done;
  const auto note = [&](const PendingRead& read) { done.push_back(read.call); };
  reads.respond(4, note);
  EXPECT_TRUE(done.empty());
  reads.respond(6, note);
  reads.respond(25, note);
  EXPECT_EQ(done, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(PendingReads, AZeroLengthReadTakesAResponse) {
  PendingReads reads;
  reads.push({0, 1, 0});
  reads.push({1, 1, 0});
  std::size_t done = 0;
  reads.respond(0, [&](const PendingRead&) { ++done; });
  EXPECT_EQ(done, 1u);
}

}  // namespace
}  // namespace steertag::conformance
