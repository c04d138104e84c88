// Credits and receives of both directions.
#include "conformance/credits.h"

#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

TEST(CreditRules, AcceptAsManyCallsAsGrantedAndRequested) {
  TraceBuilder trace;
  trace.open();
  trace.call(1, 8);
  trace.reply(1, 4);
  for (std::uint32_t xid = 2; xid < 6; ++xid) trace.call(xid, 8);
  trace.reply(3, 4);
  trace.call(6, 8);
  trace.expect_nothing();
}

TEST(CreditRules, FindASecondCallBeforeTheFirstReply) {
  TraceBuilder trace;
  trace.open();
  trace.call(1);
  trace.call(2);
  trace.expect("first_call_goes_alone", "RFC8166-3.3.3-4", Role::client);
}

TEST(CreditRules, FindCallsBeyondTheGrant) {
  TraceBuilder trace;
  trace.open();
  trace.call(1);
  trace.reply(1, 2);
  trace.call(2);
  trace.call(3);
  trace.expect_nothing();
  trace.call(4);
  trace.expect("calls_stay_within_grant", "RFC8166-3.3.1-4", Role::client);
}

TEST(CreditRules, FindCallsBeyondTheRequest) {
  TraceBuilder trace;
  trace.open();
  trace.call(1, 2);
  trace.reply(1, 64);
  trace.call(2, 2);
  trace.call(3, 2);
  trace.expect_nothing();
  trace.call(4, 2);
  trace.expect("calls_stay_within_request", "RFC8166-3.3.1-6", Role::client);
}

TEST(CreditRules, FindReverseCallsBeyondTheGrant) {
  TraceBuilder trace;
  trace.open();
  trace.call(1, 64);
  trace.reply(1, 64);
  trace.reverse_call(1, 8);
  trace.reverse_reply(1, 1);
  trace.reverse_call(2, 8);
  trace.reverse_call(3, 8);
  trace.expect("calls_stay_within_grant", "RFC8166-3.3.1-4", Role::server);
}

TEST(CreditRules, AccountDirectionsSeparately) {
  TraceBuilder trace;
  trace.open();
  trace.call(1);
  trace.reply(1, 3);
  for (std::uint32_t xid = 2; xid < 5; ++xid) trace.call(xid);
  trace.reverse_call(2, 1);
  trace.reverse_reply(2, 1);
  trace.reverse_call(3, 1);
  trace.expect_nothing();
}

TEST(CreditRules, LetACallCrossTheReplyThatLowersTheGrant) {
  TraceBuilder trace;
  trace.open();
  trace.call(1);
  trace.reply(1, 4);
  for (std::uint32_t xid = 2; xid < 5; ++xid) trace.call(xid);
  trace.reply(2, 1);  // the client may not have seen this one yet
  trace.call(5);
  trace.expect_nothing();
  trace.call(6);
  trace.expect("calls_stay_within_grant", "RFC8166-3.3.1-4", Role::client);
}

TEST(CreditRules, FindAClientThatIgnoresALoweredGrant) {
  TraceBuilder trace;
  trace.open();
  trace.call(1);
  trace.reply(1, 4);
  for (std::uint32_t xid = 2; xid < 6; ++xid) trace.call(xid);
  std::uint32_t oldest = 2;
  for (std::uint32_t xid = 6; trace.judge().findings().empty() && xid < 40; ++xid) {
    trace.reply(oldest++, 2);
    trace.call(xid);
  }
  ASSERT_EQ(trace.judge().findings().size(), 1u) << "four calls stay in flight under a grant of 2";
  trace.expect("calls_stay_within_grant", "RFC8166-3.3.1-4", Role::client);
}

TEST(CreditRules, DoNotCountMessagesThatAreNoCalls) {
  TraceBuilder trace;
  trace.open();
  trace.call(1);
  trace.reply(1, 1);
  trace.send(Role::client, words({50, 1, 1, 9, 0, 0, 0}));
  trace.send(Role::client, words({51, 1, 1, 3}));
  const std::size_t before = trace.judge().findings().size();
  trace.call(2);
  EXPECT_EQ(trace.judge().findings().size(), before);
}

TEST(CreditRules, TakeAGrantFromAnErrorToo) {
  TraceBuilder trace;
  trace.open();
  trace.call(1);
  trace.err_chunk(Role::server, 1, 2);
  trace.call(2);
  trace.call(3);
  trace.expect_nothing();
}

TEST(CreditRules, FindAGrantOfZero) {
  TraceBuilder reply;
  reply.open();
  reply.call(1);
  reply.reply(1, 0);
  reply.expect("grant_is_not_zero", "RFC8166-3.3.1-5", Role::server);

  TraceBuilder error;
  error.open();
  error.call(1);
  error.err_chunk(Role::server, 1, 0);
  error.expect("grant_is_not_zero", "RFC8166-3.3.1-5", Role::server);

  TraceBuilder reverse;
  reverse.open();
  reverse.reverse_call(1);
  reverse.reverse_reply(1, 0);
  reverse.expect("grant_is_not_zero", "RFC8166-3.3.1-5", Role::client);
}

TEST(CreditRules, AGrantOfZeroDoesNotMakeTheClientACulprit) {
  TraceBuilder trace;
  trace.open();
  trace.call(1);
  trace.reply(1, 0);
  trace.call(2);
  EXPECT_EQ(trace.judge().findings().size(), 1u);
}

TEST(CreditRules, ARequestOfZeroStillAllowsItsOwnCall) {
  TraceBuilder trace;
  trace.open();
  trace.call(1, 0);
  trace.reply(1);
  trace.expect_nothing();
}

void post(TraceBuilder& trace, Role side, std::uint32_t count, std::uint32_t size = 4096) {
  trace.event(side, trace::ReceivePosted{count, size});
}

TEST(CreditRules, FindAGrantWithoutReceives) {
  TraceBuilder trace;
  post(trace, Role::server, 3);
  trace.open();
  trace.call(1);
  post(trace, Role::server, 1);
  trace.reply(1, 3);
  trace.expect_nothing();
  trace.call(2);
  trace.reply(2, 3);
  trace.expect("receives_cover_grant", "RFC8166-3.3.1-9", Role::server);
}

TEST(CreditRules, FindACallWithoutAReceiveForItsReply) {
  TraceBuilder trace;
  post(trace, Role::client, 1);
  trace.open();
  trace.call(1);
  trace.reply(1);
  trace.expect_nothing();
  trace.call(2);
  trace.expect("receives_cover_calls", "RFC8166-3.3.1-10", Role::client);
}

TEST(CreditRules, FindSmallReceives) {
  TraceBuilder small;
  post(small, Role::server, 1, 1000);
  small.expect("receive_takes_1024_octets", "RFC8166-3.3.3-5", Role::server);

  TraceBuilder announced;
  announced.open();
  post(announced, Role::client, 1, 4096);
  announced.expect_nothing();
  post(announced, Role::client, 1, 2048);
  announced.expect("receive_is_as_announced", "RFC8797-4-10", Role::client);
}

TEST(Credits, MergesManyLevelsToTheRequestersFavour) {
  Credits credits;
  credits.start(true);
  for (std::uint32_t grant = 100; grant > 10; --grant) {
    credits.call_sent();
    credits.call_answered();
    credits.grant(grant);
  }
  for (int i = 0; i < 11; ++i) {
    EXPECT_TRUE(credits.allows_one_more()) << i << " calls are within the latest grant";
    credits.call_sent();
  }
  for (int i = 0; i < 200; ++i) credits.call_sent();
  EXPECT_FALSE(credits.allows_one_more());
}

}  // namespace
}  // namespace steertag::conformance
