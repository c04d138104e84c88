// A client's session: how it is made and ended, slots and sequence ids.
// Also the client's reaction to a server that is slow, has forgotten it, or does not speak version
// 4.1.
#include "client/testing/client_session_fixture.h"

namespace steertag::peer::testing {
namespace {

TEST(SlotTableTest, LowestFreeSlotIsTakenAndIdsGoOn) {
  SlotTable slots;
  slots.reset(2);
  EXPECT_EQ(slots.take(), 0U);
  EXPECT_EQ(slots.take(), 1U);
  EXPECT_EQ(slots.take(), std::nullopt);
  EXPECT_EQ(slots.highest_in_use(), 1U);
  slots.give_back(0, true);
  EXPECT_EQ(slots.take(), 0U);
  EXPECT_EQ(slots.sequence_id(0), 2U);
  EXPECT_EQ(slots.sequence_id(1), 1U);
}

TEST(SlotTableTest, CallThatWasNotExecutedLeavesItsId) {
  SlotTable slots;
  slots.reset(1);
  slots.take();
  slots.give_back(0, false);
  slots.take();
  EXPECT_EQ(slots.sequence_id(0), 1U);
}

TEST(SlotTableTest, LostSlotIsNeverTakenAgain) {
  SlotTable slots;
  slots.reset(2);
  slots.take();
  slots.lose(0);
  EXPECT_FALSE(slots.exhausted());
  EXPECT_EQ(slots.take(), 1U);
  slots.lose(1);
  EXPECT_TRUE(slots.exhausted());
  EXPECT_EQ(slots.take(), std::nullopt);
}

TEST(SlotTableTest, TargetOfTheServerIsObeyed) {
  SlotTable slots;
  slots.reset(4);
  slots.set_target(0);
  EXPECT_EQ(slots.take(), 0U);
  EXPECT_EQ(slots.take(), std::nullopt);
}

TEST_F(ClientSessionTest, IsMadeBeforeTheFirstCallAndGivenBack) {
  ASSERT_TRUE(call());
  ASSERT_TRUE(session.end());
  EXPECT_EQ(seen, (std::vector{Opnum::OP_EXCHANGE_ID, Opnum::OP_CREATE_SESSION, Opnum::OP_SEQUENCE,
                               Opnum::OP_RECLAIM_COMPLETE, Opnum::OP_SEQUENCE, Opnum::OP_PUTROOTFH,
                               Opnum::OP_SEQUENCE, Opnum::OP_DESTROY_SESSION,
                               Opnum::OP_DESTROY_CLIENTID}));
  EXPECT_EQ(creates.front().csa_flags, 0U) << "no back channel, no persistence";
  EXPECT_EQ(creates.front().csa_fore_chan_attrs.ca_maxrequests, transport.calls);
}

TEST_F(ClientSessionTest, SlotsAreAskedForAsTheOptionsSay) {
  for (const std::uint32_t slots : {1U, 200U, kMostWishedSlots + 1}) {
    SessionOptions wish = options();
    wish.slots = slots;
    ClientSession other(schedule, wish);
    const auto called = other.wait(
        null_call(), [](CompoundReply& reply) { return reply.skip(Opnum::OP_PUTROOTFH); });
    ASSERT_TRUE(called) << called.error().message();
    EXPECT_EQ(creates.back().csa_fore_chan_attrs.ca_maxrequests, std::min(slots, kMostWishedSlots))
        << "whatever the transport takes at a time";
  }
}

TEST_F(ClientSessionTest, EndOfASessionThatIsGoneIsNoError) {
  ASSERT_TRUE(call());
  next_status[Opnum::OP_SEQUENCE] = {Status::NFS4ERR_BADSESSION};
  EXPECT_TRUE(session.end()) << "DESTROY_SESSION may be the retry of one whose reply was lost";
}

TEST_F(ClientSessionTest, ServerWithoutTheVersionIsTold) {
  no_version4 = true;
  const auto called = call();
  ASSERT_FALSE(called);
  EXPECT_EQ(called.error().code, FileErrc::unsupported_version);
}

TEST_F(ClientSessionTest, CallsUnderWayHaveSlotsOfTheirOwn) {
  ASSERT_TRUE(call());
  sequences.clear();
  int done = 0;
  for (int i = 0; i < 6; ++i)
    session.call(null_call(), [&](const Expected<CompoundReply, FileError>& reply) {
      EXPECT_TRUE(reply);
      ++done;
    });
  EXPECT_EQ(transport.pending(), 4U) << "two wait for a slot";
  schedule.run_until([&] { return done == 6; });
  ASSERT_EQ(sequences.size(), 6U);
  std::map<std::uint32_t, std::uint32_t> last{{0, 2}};  // slot 0 has had two calls
  for (const auto& sequence : sequences) {
    EXPECT_LT(sequence.sa_slotid, 4U);
    EXPECT_EQ(sequence.sa_sequenceid, ++last[sequence.sa_slotid]) << sequence.sa_slotid;
    EXPECT_GE(sequence.sa_highest_slotid, sequence.sa_slotid);
  }
}

TEST_F(ClientSessionTest, SlotOfALostCallIsNotUsedAgain) {
  ASSERT_TRUE(call());
  unanswered = 1;
  ASSERT_FALSE(call());
  sequences.clear();
  ASSERT_TRUE(call());
  EXPECT_EQ(sequences.front().sa_slotid, 1U);
}

TEST_F(ClientSessionTest, SessionWithoutSlotsIsMadeAnew) {
  ASSERT_TRUE(call());
  unanswered = 4;
  for (int i = 0; i < 4; ++i) ASSERT_FALSE(call());
  ASSERT_TRUE(call());
  EXPECT_EQ(count(Opnum::OP_CREATE_SESSION), 2);
  EXPECT_EQ(count(Opnum::OP_EXCHANGE_ID), 1);
}

TEST_F(ClientSessionTest, TargetBelowTheLostSlotsMakesASessionAnew) {
  ASSERT_TRUE(call());
  unanswered = 1;
  ASSERT_FALSE(call()) << "slot 0 is lost";
  target = 0;
  ASSERT_TRUE(call()) << "by slot 1, whose reply allows slot 0 alone";
  bool done = false;
  session.call(null_call(), [&](const Expected<CompoundReply, FileError>& reply) {
    EXPECT_TRUE(reply);
    done = true;
  });
  for (int i = 0; i < 10; ++i) schedule.step(0ms);
  EXPECT_TRUE(done) << "the call waits for a slot that never comes";
  EXPECT_EQ(count(Opnum::OP_CREATE_SESSION), 2);
}

TEST_F(ClientSessionTest, ServerDoesNotMakeTheChannelLarger) {
  offered = nfs4::ChannelAttrs{0, UINT32_MAX, UINT32_MAX, UINT32_MAX, 8, 1000, {}};
  ASSERT_TRUE(call());
  const nfs4::ChannelAttrs& wanted = creates.front().csa_fore_chan_attrs;
  EXPECT_EQ(session.channel().ca_maxrequestsize, wanted.ca_maxrequestsize);
  EXPECT_EQ(session.channel().ca_maxresponsesize, wanted.ca_maxresponsesize);
  EXPECT_EQ(session.channel().ca_maxresponsesize_cached, wanted.ca_maxresponsesize_cached);
  EXPECT_EQ(session.slots(), wanted.ca_maxrequests);
}

TEST_F(ClientSessionTest, ReplyForAnotherSlotIsNoReply) {
  ASSERT_TRUE(call());
  other_slot = true;
  const auto called = call();
  ASSERT_FALSE(called) << "the results may be those of another call";
  EXPECT_EQ(called.error().code, FileErrc::bad_results);
  other_slot = false;
  sequences.clear();
  ASSERT_TRUE(call());
  EXPECT_EQ(sequences.front().sa_slotid, 1U) << "the sequence id of slot 0 is unknown";
}

TEST_F(ClientSessionTest, InterruptEndsEveryWaitAndTheSessionGoesOn) {
  ASSERT_TRUE(call());
  bool interrupted = false;
  schedule.set_interrupted([&] { return interrupted; });
  next_status[Opnum::OP_PUTROOTFH] = {Status::NFS4ERR_DELAY};
  int failed = 0;
  for (int i = 0; i < 6; ++i)
    session.call(null_call(),
                 [&](const Expected<CompoundReply, FileError>& reply) { failed += reply ? 0 : 1; });
  schedule.step(0ms);
  EXPECT_EQ(transport.pending(), 4U) << "one is delayed, one waits for a slot";
  interrupted = true;
  transport.now += kInterruptPoll;
  schedule.step(0ms);
  EXPECT_EQ(failed, 6);
  interrupted = false;
  EXPECT_TRUE(call());
}

TEST_F(ClientSessionTest, LeaseIsRenewedWhereNoCallDoes) {
  session.renew_lease();
  EXPECT_EQ(transport.pending(), 0U) << "there is no session yet";
  session.learn_lease(30s);
  ASSERT_TRUE(call());
  sequences.clear();
  const auto look = [&] {
    session.renew_lease();
    while (transport.pending() > 0) schedule.step(0ms);
    return sequences.size();
  };
  transport.now += 9s;
  EXPECT_EQ(look(), 0U) << "the call has renewed it";
  transport.now += 1s;
  EXPECT_EQ(look(), 1U);
  EXPECT_EQ(look(), 1U) << "once";
  session.learn_lease(1h);
  transport.now += kLeaseRenewal;
  EXPECT_EQ(look(), 2U) << "a long lease is renewed no later";
  session.learn_lease(1s);
  EXPECT_EQ(look(), 2U) << "a short one is not renewed at each step";
  transport.now += 334ms;
  EXPECT_EQ(look(), 3U);
}

TEST_F(ClientSessionTest, DelayOfSequenceKeepsTheSequenceId) {
  ASSERT_TRUE(call());
  sequences.clear();
  next_status[Opnum::OP_SEQUENCE] = {Status::NFS4ERR_DELAY};
  ASSERT_TRUE(call());
  ASSERT_EQ(sequences.size(), 2U);
  EXPECT_EQ(sequences[0].sa_sequenceid, sequences[1].sa_sequenceid);
}

TEST_F(ClientSessionTest, DelayOfAnOperationTakesTheNextSequenceId) {
  ASSERT_TRUE(call());
  sequences.clear();
  next_status[Opnum::OP_PUTROOTFH] = {Status::NFS4ERR_DELAY, Status::NFS4ERR_GRACE};
  ASSERT_TRUE(call());
  ASSERT_EQ(sequences.size(), 3U);
  EXPECT_EQ(sequences[0].sa_sequenceid + 2, sequences[2].sa_sequenceid);
}

TEST_F(ClientSessionTest, DelayHasAnEnd) {
  ASSERT_TRUE(call());
  const auto begin = transport.now;
  next_status[Opnum::OP_PUTROOTFH] = std::deque<Status>(100'000, Status::NFS4ERR_DELAY);
  const auto called = call();
  ASSERT_FALSE(called);
  EXPECT_EQ(called.error().status_name, "NFS4ERR_DELAY");
  EXPECT_GE(transport.now - begin, kMostDelay);
  EXPECT_LE(transport.now - begin, kMostDelay + kLongestPause + 1s);
}

TEST_F(ClientSessionTest, ForgottenSessionIsMadeAnewWithTheSameClientId) {
  ASSERT_TRUE(call());
  next_status[Opnum::OP_SEQUENCE] = {Status::NFS4ERR_BADSESSION};
  ASSERT_TRUE(call());
  EXPECT_EQ(count(Opnum::OP_EXCHANGE_ID), 1);
  ASSERT_EQ(creates.size(), 2U);
  EXPECT_EQ(creates[1].csa_sequence, creates[0].csa_sequence + 1);
  EXPECT_EQ(count(Opnum::OP_RECLAIM_COMPLETE), 1);
}

TEST_F(ClientSessionTest, ForgottenClientMakesItselfKnownAgain) {
  ASSERT_TRUE(call());
  next_status[Opnum::OP_SEQUENCE] = {Status::NFS4ERR_BADSESSION};
  next_status[Opnum::OP_CREATE_SESSION] = {Status::NFS4ERR_STALE_CLIENTID};
  ASSERT_TRUE(call());
  EXPECT_EQ(count(Opnum::OP_EXCHANGE_ID), 2);
  EXPECT_EQ(count(Opnum::OP_RECLAIM_COMPLETE), 2);
}

TEST_F(ClientSessionTest, CallsUnderWayShareOneNewSession) {
  ASSERT_TRUE(call());
  next_status[Opnum::OP_SEQUENCE] =
      std::deque<Status>{Status::NFS4ERR_BADSESSION, Status::NFS4ERR_BADSESSION};
  int done = 0;
  for (int i = 0; i < 2; ++i)
    session.call(null_call(), [&](const Expected<CompoundReply, FileError>& reply) {
      EXPECT_TRUE(reply);
      ++done;
    });
  schedule.run_until([&] { return done == 2; });
  EXPECT_EQ(count(Opnum::OP_CREATE_SESSION), 2);
}

TEST_F(ClientSessionTest, SessionsThatAreLostAgainAndAgainEndTheCall) {
  ASSERT_TRUE(call());
  next_status[Opnum::OP_SEQUENCE] = std::deque<Status>(100, Status::NFS4ERR_BADSESSION);
  const auto called = call();
  ASSERT_FALSE(called);
  EXPECT_EQ(called.error().code, FileErrc::state_lost);
}

TEST_F(ClientSessionTest, ReplyThatWasNotKeptIsAskedForAnew) {
  ASSERT_TRUE(call());
  sequences.clear();
  next_status[Opnum::OP_PUTROOTFH] = {Status::NFS4ERR_RETRY_UNCACHED_REP};
  ASSERT_TRUE(call());
  ASSERT_EQ(sequences.size(), 2U);
  EXPECT_EQ(sequences[0].sa_sequenceid + 1, sequences[1].sa_sequenceid);
}

}  // namespace
}  // namespace steertag::peer::testing
