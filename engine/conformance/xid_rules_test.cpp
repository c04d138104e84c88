// XIDs: equal in header and payload, unique while outstanding, and each answered once.
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

TEST(XidRules, AcceptEqualXidsInBothDirections) {
  TraceBuilder trace;
  trace.open();
  trace.call(7);
  trace.reverse_call(7);
  trace.reply(7);
  trace.reverse_reply(7);
  trace.expect_nothing();
}

TEST(XidRules, FindACallWithTwoXids) {
  TraceBuilder trace;
  trace.open();
  trace.send(Role::client, header(1), rpc_call(2));
  trace.expect("xid_is_the_rpc_xid", "RFC8166-4.2.1-1", Role::client);
}

TEST(XidRules, LetTheServerGoByEitherXid) {
  for (const std::uint32_t xid : {1u, 2u}) {
    TraceBuilder trace;
    trace.open();
    trace.send(Role::client, header(1), rpc_call(2));
    trace.reply(xid);
    EXPECT_EQ(trace.judge().findings().size(), 1u) << "XID " << xid;
  }
  TraceBuilder trace;
  trace.open();
  trace.send(Role::client, header(1), rpc_call(2));
  trace.send(Role::server, header(1), rpc_reply(2));
  EXPECT_EQ(trace.judge().findings().size(), 1u) << "the server copied both";
}

TEST(XidRules, FindAReplyWithTwoXids) {
  TraceBuilder trace;
  trace.open();
  trace.call(1);
  trace.send(Role::server, header(1), rpc_reply(2));
  trace.expect("xid_is_the_rpc_xid", "RFC8166-4.2.1-1", Role::server);
}

TEST(XidRules, FindReverseMessagesWithTwoXids) {
  TraceBuilder call;
  call.open();
  call.send(Role::server, header(1, 1), rpc_call(2));
  call.expect("reverse_call_xid_is_the_rpc_xid", "RFC8167-5.1-3", Role::server);

  TraceBuilder reply;
  reply.open();
  reply.reverse_call(1);
  reply.send(Role::client, header(1), rpc_reply(2));
  reply.expect("reverse_reply_xid_is_the_rpc_xid", "RFC8167-5.2-3", Role::client);
}

TEST(XidRules, FindAnXidUsedTwice) {
  TraceBuilder trace;
  trace.open();
  trace.call(1);
  trace.reply(1);
  trace.call(2);
  trace.call(2);
  trace.expect("xid_is_unique", "RFC8167-2.4-1", Role::client);
}

TEST(XidRules, LetAnXidComeBackAfterItsReply) {
  TraceBuilder trace;
  trace.open();
  for (int i = 0; i < 3; ++i) {
    trace.call(1);
    trace.reply(1);
  }
  trace.expect_nothing();
}

TEST(XidRules, LetTheServerAnswerBothCallsOfOneXid) {
  TraceBuilder trace;
  trace.open();
  trace.call(1);
  trace.reply(1);
  trace.call(2);
  trace.call(2);
  trace.reply(2);
  trace.reply(2);
  ASSERT_EQ(trace.judge().findings().size(), 1u) << "both answers are legal";
  trace.reply(2);
  EXPECT_EQ(trace.judge().findings().size(), 2u) << "a third is not";
}

TEST(XidRules, FindAReplyToNothing) {
  TraceBuilder trace;
  trace.open();
  trace.reply(1);
  trace.expect("reply_answers_a_call", "RFC8166-3.3.1-11", Role::server);
}

TEST(XidRules, FindASecondReply) {
  TraceBuilder trace;
  trace.open();
  trace.call(1);
  trace.reply(1);
  trace.reply(1);
  trace.expect("reply_answers_a_call", "RFC8166-3.3.1-11", Role::server);
}

TEST(XidRules, FindAReplyOfAClientToNothing) {
  TraceBuilder trace;
  trace.open();
  trace.reverse_reply(1);
  trace.expect("reply_answers_a_call", "RFC8166-3.3.1-11", Role::client);
}

TEST(XidRules, KeepSilentAboutRepliesToCallsBeforeTheTrace) {
  TraceBuilder trace;
  trace.reply(1);
  trace.call(2);
  trace.call(3);
  trace.reply(9);
  trace.expect_nothing();
}

TEST(XidRules, FindAnAnswerToAShortMessage) {
  TraceBuilder trace;
  trace.open();
  trace.send(Role::client, words({5, 1, 1, 0, 0}));
  ASSERT_EQ(trace.judge().findings().size(), 1u) << "the short message itself";
  trace.err_chunk(Role::server, 5);
  ASSERT_EQ(trace.judge().findings().size(), 2u);
  EXPECT_EQ(trace.judge().findings()[1].rule, "short_message_stays_unanswered");
  EXPECT_EQ(trace.judge().findings()[1].requirement->id, "RFC8166-4.5-1");
  EXPECT_EQ(trace.judge().findings()[1].culprit, Role::server);
}

TEST(XidRules, FindAnAnswerToDone) {
  TraceBuilder trace;
  trace.open();
  trace.send(Role::client, words({5, 1, 1, 3}));
  trace.reply(5);
  ASSERT_EQ(trace.judge().findings().size(), 2u);
  EXPECT_EQ(trace.judge().findings()[1].rule, "done_stays_unanswered");
  EXPECT_EQ(trace.judge().findings()[1].requirement->id, "RFC8166-4.6.2-2");
}

TEST(XidRules, FindAnAnswerToAnError) {
  TraceBuilder trace;
  trace.open();
  trace.err_chunk(Role::client, 5);
  trace.err_chunk(Role::server, 5);
  ASSERT_EQ(trace.judge().findings().size(), 2u);
  EXPECT_EQ(trace.judge().findings()[1].rule, "error_stays_unanswered");
  EXPECT_EQ(trace.judge().findings()[1].requirement->id, "RFC8166-4.2.4-5");
}

TEST(XidRules, LetACallReuseTheXidOfADiscardedMessage) {
  TraceBuilder trace;
  trace.open();
  trace.send(Role::client, words({5, 1, 1, 3}));
  trace.call(5);
  trace.reply(5);
  EXPECT_EQ(trace.judge().findings().size(), 1u);
}

TEST(XidRules, ABlindJudgeIsSilent) {
  TraceBuilder trace;
  trace.open();
  // Undecodable messages may be answered at any time, so each has to be remembered.
  for (std::uint32_t xid = 0; xid < 5000; ++xid)
    trace.send(Role::client, words({xid, 1, 1, 9, 0, 0, 0}));
  const std::size_t before = trace.judge().findings().size() + trace.judge().dropped_findings();
  trace.reply(4999);
  EXPECT_EQ(trace.judge().findings().size() + trace.judge().dropped_findings(), before);
  EXPECT_EQ(trace.judge().findings().size(), kMostFindings);
}

}  // namespace
}  // namespace steertag::conformance
