// Credits and receives of both directions.
#include "conformance/credits.h"

#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

TEST(CreditRules, AcceptAsManyCallsAsGrantedAndRequested) {
  opened().call(1, 8).reply(1, 4).calls(2, 4, 8).reply(3, 4).call(6, 8).expect_nothing();
}

TEST(CreditRules, FindASecondCallBeforeTheFirstReply) {
  opened().call(1).call(2).expect("first_call_goes_alone", "RFC8166-3.3.3-4", Role::client);
}

TEST(CreditRules, FindCallsBeyondTheGrant) {
  opened().exchange(1, 2).call(2).call(3).expect_nothing().call(4).expect(
      "calls_stay_within_grant", "RFC8166-3.3.1-4", Role::client);
}

TEST(CreditRules, FindCallsBeyondTheRequest) {
  opened().call(1, 2).reply(1, 64).call(2, 2).call(3, 2).expect_nothing().call(4, 2).expect(
      "calls_stay_within_request", "RFC8166-3.3.1-6", Role::client);
}

TEST(CreditRules, FindReverseCallsBeyondTheGrant) {
  opened()
      .call(1, 64)
      .reply(1, 64)
      .reverse_call(1, 8)
      .reverse_reply(1, 1)
      .reverse_call(2, 8)
      .reverse_call(3, 8)
      .expect("calls_stay_within_grant", "RFC8166-3.3.1-4", Role::server);
}

TEST(CreditRules, AccountDirectionsSeparately) {
  opened()
      .exchange(1, 3)
      .calls(2, 3)
      .reverse_call(2, 1)
      .reverse_reply(2, 1)
      .reverse_call(3, 1)
      .expect_nothing();
}

TEST(CreditRules, LetACallCrossTheReplyThatLowersTheGrant) {
  TraceBuilder trace = opened();
  trace.exchange(1, 4).calls(2, 3);
  trace.reply(2, 1);  // the client may not have seen this one yet
  trace.call(5).expect_nothing().call(6).expect("calls_stay_within_grant", "RFC8166-3.3.1-4",
                                                Role::client);
}

TEST(CreditRules, FindAClientThatIgnoresALoweredGrant) {
  TraceBuilder trace = opened();
  trace.exchange(1, 4).calls(2, 4);
  std::uint32_t oldest = 2;
  for (std::uint32_t xid = 6; trace.judge().findings().empty() && xid < 40; ++xid) {
    trace.reply(oldest++, 2).call(xid);
  }
  ASSERT_EQ(trace.findings(), 1u) << "four calls stay in flight under a grant of 2";
  trace.expect("calls_stay_within_grant", "RFC8166-3.3.1-4", Role::client);
}

TEST(CreditRules, DoNotCountMessagesThatAreNoCalls) {
  TraceBuilder trace = opened();
  trace.exchange(1, 1)
      .send(Role::client, words({50, 1, 1, 9, 0, 0, 0}))
      .send(Role::client, words({51, 1, 1, 3}));
  const std::size_t before = trace.findings();
  trace.call(2);
  EXPECT_EQ(trace.findings(), before);
}

TEST(CreditRules, TakeAGrantFromAnErrorToo) {
  opened().call(1).err_chunk(Role::server, 1, 2).call(2).call(3).expect_nothing();
}

TEST(CreditRules, FindAGrantOfZero) {
  opened().exchange(1, 0).expect("grant_is_not_zero", "RFC8166-3.3.1-5", Role::server);

  opened()
      .call(1)
      .err_chunk(Role::server, 1, 0)
      .expect("grant_is_not_zero", "RFC8166-3.3.1-5", Role::server);

  opened().reverse_call(1).reverse_reply(1, 0).expect("grant_is_not_zero", "RFC8166-3.3.1-5",
                                                      Role::client);
}

TEST(CreditRules, AGrantOfZeroDoesNotMakeTheClientACulprit) {
  TraceBuilder trace = opened();
  trace.exchange(1, 0).call(2);
  EXPECT_EQ(trace.findings(), 1u);
}

TEST(CreditRules, ARequestOfZeroStillAllowsItsOwnCall) {
  opened().call(1, 0).reply(1).expect_nothing();
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
  trace.reply(1, 3).expect_nothing().exchange(2, 3).expect("receives_cover_grant",
                                                           "RFC8166-3.3.1-9", Role::server);
}

TEST(CreditRules, FindACallWithoutAReceiveForItsReply) {
  TraceBuilder trace;
  post(trace, Role::client, 1);
  trace.open();
  trace.exchange(1).expect_nothing().call(2).expect("receives_cover_calls", "RFC8166-3.3.1-10",
                                                    Role::client);
}

TEST(CreditRules, FindSmallReceives) {
  TraceBuilder small;
  post(small, Role::server, 1, 1000);
  small.expect("receive_takes_1024_octets", "RFC8166-3.3.3-5", Role::server);

  TraceBuilder announced = opened();
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
