// XIDs: equal in header and payload, unique while outstanding, and each answered once.
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

TEST(XidRules, AcceptEqualXidsInBothDirections) {
  opened().call(7).reverse_call(7).reply(7).reverse_reply(7).expect_nothing();
}

TEST(XidRules, FindACallWithTwoXids) {
  opened()
      .send(Role::client, header(1), rpc_call(2))
      .expect("xid_is_the_rpc_xid", "RFC8166-4.2.1-1", Role::client);
}

TEST(XidRules, LetTheServerGoByEitherXid) {
  for (const std::uint32_t xid : {1u, 2u}) {
    TraceBuilder trace = opened();
    trace.send(Role::client, header(1), rpc_call(2)).reply(xid);
    EXPECT_EQ(trace.findings(), 1u) << "XID " << xid;
  }
  TraceBuilder trace = opened();
  trace.send(Role::client, header(1), rpc_call(2)).send(Role::server, header(1), rpc_reply(2));
  EXPECT_EQ(trace.findings(), 1u) << "the server copied both";
}

TEST(XidRules, FindAReplyWithTwoXids) {
  opened()
      .call(1)
      .send(Role::server, header(1), rpc_reply(2))
      .expect("xid_is_the_rpc_xid", "RFC8166-4.2.1-1", Role::server);
}

TEST(XidRules, BlameTheHeaderIfTheRpcMessageAnswersTheCall) {
  opened()
      .call(2)
      .send(Role::server, header(1), rpc_reply(2))
      .expect("xid_is_the_rpc_xid", "RFC8166-4.2.1-1", Role::server);
}

TEST(XidRules, FindAReplyToNoCallWithTwoXids) {
  opened()
      .exchange(2)
      .send(Role::server, header(1), rpc_reply(2))
      .expect("reply_answers_a_call", "RFC8166-3.3.1-11", Role::server);
}

TEST(XidRules, FindReverseMessagesWithTwoXids) {
  opened()
      .send(Role::server, header(1, 1), rpc_call(2))
      .expect("reverse_call_xid_is_the_rpc_xid", "RFC8167-5.1-3", Role::server);

  opened()
      .reverse_call(1)
      .send(Role::client, header(1), rpc_reply(2))
      .expect("reverse_reply_xid_is_the_rpc_xid", "RFC8167-5.2-3", Role::client);
}

TEST(XidRules, FindAnXidUsedTwice) {
  opened().exchange(1).call(2).call(2).expect("xid_is_unique", "RFC8167-2.4-1", Role::client);
}

TEST(XidRules, LetAnXidComeBackAfterItsReply) {
  TraceBuilder trace = opened();
  for (int i = 0; i < 3; ++i) {
    trace.exchange(1);
  }
  trace.expect_nothing();
}

TEST(XidRules, LetTheServerAnswerBothCallsOfOneXid) {
  TraceBuilder trace = opened();
  trace.exchange(1).call(2).call(2).reply(2).reply(2);
  ASSERT_EQ(trace.findings(), 1u) << "both answers are legal";
  trace.reply(2);
  EXPECT_EQ(trace.findings(), 2u) << "a third is not";
}

TEST(XidRules, FindAReplyToNothing) {
  opened().reply(1).expect("reply_answers_a_call", "RFC8166-3.3.1-11", Role::server);
}

TEST(XidRules, FindASecondReply) {
  opened().exchange(1).reply(1).expect("reply_answers_a_call", "RFC8166-3.3.1-11", Role::server);
}

TEST(XidRules, FindAReplyOfAClientToNothing) {
  opened().reverse_reply(1).expect("reply_answers_a_call", "RFC8166-3.3.1-11", Role::client);
}

TEST(XidRules, KeepSilentAboutRepliesToCallsBeforeTheTrace) {
  TraceBuilder trace;
  trace.reply(1).call(2).call(3).reply(9).expect_nothing();
}

TEST(XidRules, FindAnAnswerToAShortMessage) {
  TraceBuilder trace = opened();
  trace.send(Role::client, words({5, 1, 1, 0, 0}));
  ASSERT_EQ(trace.findings(), 1u) << "the short message itself";
  trace.err_chunk(Role::server, 5)
      .expect_second("short_message_stays_unanswered", "RFC8166-4.5-1", Role::server);
}

TEST(XidRules, FindAnAnswerToDone) {
  opened()
      .send(Role::client, words({5, 1, 1, 3}))
      .reply(5)
      .expect_second("done_stays_unanswered", "RFC8166-4.6.2-2", Role::server);
}

TEST(XidRules, FindAnAnswerToAnError) {
  opened()
      .err_chunk(Role::client, 5)
      .err_chunk(Role::server, 5)
      .expect_second("error_stays_unanswered", "RFC8166-4.2.4-5", Role::server);
}

TEST(XidRules, LetACallReuseTheXidOfADiscardedMessage) {
  TraceBuilder trace = opened();
  trace.send(Role::client, words({5, 1, 1, 3})).exchange(5);
  EXPECT_EQ(trace.findings(), 1u);
}

TEST(XidRules, ABlindJudgeIsSilent) {
  TraceBuilder trace = opened();
  // Undecodable messages may be answered at any time, so each must be recorded.
  for (std::uint32_t xid = 0; xid < 5000; ++xid)
    trace.send(Role::client, words({xid, 1, 1, 9, 0, 0, 0}));
  const std::size_t before = trace.findings() + trace.judge().dropped_findings();
  trace.reply(4999);
  EXPECT_EQ(trace.findings() + trace.judge().dropped_findings(), before);
  EXPECT_EQ(trace.findings(), kMostFindings);
}

}  // namespace
}  // namespace steertag::conformance
