// Read delegations of NFSv4.1: grants, recalls over the backchannel, revocation.
#include "server/testing/v4_state_fixture.h"
#include "server/v4/file_operations.h"
#include "server/v4/state/session_backchannel.h"

namespace steertag::peer::testing {
namespace {

using nfs4::DelegationType;

constexpr std::uint32_t kRead = nfs4::OPEN4_SHARE_ACCESS_READ;
constexpr std::uint32_t kWrite = nfs4::OPEN4_SHARE_ACCESS_WRITE;

class V4DelegationTest : public V4StateTest {
 protected:
  V4DelegationTest()
      : file(make_file("f")), holder(mounted("holder", 1)), writer(mounted("writer", 2)) {}

  nfs4::StateId delegated() {
    const auto opened = open(holder, "f", kRead);
    EXPECT_EQ(opened.delegation.delegation_type, DelegationType::OPEN_DELEGATE_READ);
    return opened.delegation.read.stateid;
  }
  Status write_open() {
    return run(op_open, open_args(writer, "f", kWrite), writer, root()).status;
  }
  /// Another session of the holder's client, whose connection can call back.
  Actor another_session(std::uint64_t connection) {
    Actor made = holder;
    made.backchannel = std::make_shared<HeldBackchannel>();
    made.connection = connection;
    made.session =
        run(op_create_session, session_args(holder.clientid, 2), made).resok4.csr_sessionid;
    made.backchannel->answer_null();
    return made;
  }
  /// Cuts the holder's connection under the call that it was to answer; returns that call.
  HeldBackchannel::Held cut_under_call() {
    auto lost = holder.backchannel->take();
    holder.backchannel.reset();
    lost.done(tl::unexpected(net::Error{net::Errc::not_connected, "test"}));
    return lost;
  }

  Handle file;
  Actor holder;
  Actor writer;
};

TEST_F(V4DelegationTest, AReaderGetsADelegationAndReadsUnderIt) {
  const auto stateid = delegated();
  EXPECT_EQ(io(holder, stateid, file, AccessMode::read), Status::NFS4_OK);
  EXPECT_EQ(io(holder, stateid, file, AccessMode::write), Status::NFS4ERR_OPENMODE);
  EXPECT_EQ(open(writer, "f", kRead).delegation.delegation_type, DelegationType::OPEN_DELEGATE_READ)
      << "readers do not disturb each other";
}

TEST_F(V4DelegationTest, RecallsThatWaitForASlotGoWhenOneIsFree) {
  constexpr std::size_t kFiles = 3 * kMostBackSlots;
  for (std::size_t i = 0; i < kFiles; ++i) {
    const std::string name = "file " + std::to_string(i);
    make_file(name);
    ASSERT_EQ(open(holder, name, kRead).delegation.delegation_type,
              DelegationType::OPEN_DELEGATE_READ);
    ASSERT_EQ(run(op_open, open_args(writer, name, kWrite), writer, root()).status,
              Status::NFS4ERR_DELAY);
  }
  EXPECT_EQ(holder.backchannel->calls.size(), kMostBackSlots);
  std::size_t recalled = 0;
  for (; !holder.backchannel->calls.empty() && recalled < kFiles; ++recalled)
    holder.backchannel->answer_recall(Status::NFS4_OK);
  EXPECT_EQ(recalled, kFiles) << "some wait for the next second, and are revoked if they are many";
  EXPECT_TRUE(holder.backchannel->calls.empty());
}

TEST_F(V4DelegationTest, ItIsNotRecalledForWhomMayNotWrite) {
  const Handle theirs = make_file("theirs", 0644);
  ASSERT_EQ(open(holder, "theirs", kRead).delegation.delegation_type,
            DelegationType::OPEN_DELEGATE_READ);
  writer.uid = 4711;
  const Bytes data = pattern(1);
  EXPECT_EQ(run(op_write, nfs4::WriteArgs{{}, 0, {}, data}, writer, theirs).status,
            Status::NFS4ERR_ACCESS);
  EXPECT_TRUE(holder.backchannel->calls.empty()) << "a stranger takes a delegation away";
}

TEST_F(V4DelegationTest, ARecallRefersToTheGrantUntilItsSlotIsUsedAgain) {
  sequence(holder, 1);
  delegated();
  EXPECT_EQ(write_open(), Status::NFS4ERR_DELAY);
  auto recalled = holder.backchannel->answer_recall(Status::NFS4ERR_DELAY);
  ASSERT_EQ(recalled.sequence.csa_referring_call_lists.size(), 1U)
      << "RFC 8881 2.10.6.3: it is unknown whether the client has seen the grant";
  const nfs4::ReferringCallList& list = recalled.sequence.csa_referring_call_lists[0];
  EXPECT_EQ(list.rcl_sessionid, holder.session);
  ASSERT_EQ(list.rcl_referring_calls.size(), 1U);
  EXPECT_EQ(list.rcl_referring_calls[0].rc_sequenceid, 1U);
  EXPECT_EQ(list.rcl_referring_calls[0].rc_slotid, 0U);
  sequence(holder, 2);
  pass(kRecallPause);
  recalled = holder.backchannel->answer_recall(Status::NFS4_OK);
  EXPECT_TRUE(recalled.sequence.csa_referring_call_lists.empty())
      << "the next request in the slot proves that the reply was seen";
}

TEST_F(V4DelegationTest, NotGrantedWithoutBackchannelOrWhenNotWanted) {
  const auto refused = open(holder, "f", kRead | nfs4::OPEN4_SHARE_ACCESS_WANT_NO_DELEG).delegation;
  EXPECT_EQ(refused.delegation_type, DelegationType::OPEN_DELEGATE_NONE_EXT);
  EXPECT_EQ(refused.od_whynone.ond_why, nfs4::WhyNoDelegation::WND4_NOT_WANTED);
  holder.backchannel.reset();
  const auto unreachable =
      open(holder, "f", kRead | nfs4::OPEN4_SHARE_ACCESS_WANT_READ_DELEG).delegation;
  EXPECT_EQ(unreachable.od_whynone.ond_why, nfs4::WhyNoDelegation::WND4_RESOURCE);
  Actor old = known();
  EXPECT_EQ(open(old, "f", kRead).delegation.delegation_type, DelegationType::OPEN_DELEGATE_NONE);
}

TEST_F(V4DelegationTest, NotGrantedWithoutASlotForTheRecall) {
  Actor actor;
  const auto id = run(op_exchange_id, exchange_args(actor), actor).resok4;
  actor.clientid = id.eir_clientid;
  auto args = session_args(id.eir_clientid, id.eir_sequenceid);
  args.csa_flags = 0;
  args.csa_back_chan_attrs = {};
  actor.session = run(op_create_session, args, actor).resok4.csr_sessionid;
  run(op_reclaim_complete, {}, actor);
  const auto bound = run(op_bind_conn_to_session,
                         {actor.session, nfs4::ChannelDirFromClient::CDFC4_FORE_OR_BOTH}, actor);
  ASSERT_EQ(bound.resok4.bctsr_dir, nfs4::ChannelDirFromServer::CDFS4_BOTH);
  actor.backchannel->answer_null();
  EXPECT_EQ(open(actor, "f", nfs4::OPEN4_SHARE_ACCESS_READ).delegation.delegation_type,
            nfs4::DelegationType::OPEN_DELEGATE_NONE);
}

TEST_F(V4DelegationTest, NotGrantedIfTheRecallExceedsMaxRequestSize) {
  // The recall with the longest credential and a referring call, and a session that asked for its
  // backchannel later.
  constexpr std::uint32_t kRecallBytes = 524;
  const std::string machine(255, 'm');
  nfs4::CallbackSecParms parms;
  parms.cb_secflavor = nfs4::CallbackFlavor::AUTH_SYS;
  parms.cbsp_sys_cred.machine_name = machine;
  parms.cbsp_sys_cred.gids.assign(16, 100);
  const auto recall_bytes = [&](std::string owner, std::uint32_t maxrequestsize) {
    Actor actor;
    actor.owner = std::move(owner);
    const auto id = run(op_exchange_id, exchange_args(actor), actor).resok4;
    actor.clientid = id.eir_clientid;
    auto args = session_args(id.eir_clientid, id.eir_sequenceid);
    args.csa_flags = 0;
    args.csa_back_chan_attrs.ca_maxrequestsize = maxrequestsize;
    args.csa_sec_parms = {parms};
    actor.session = run(op_create_session, args, actor).resok4.csr_sessionid;
    run(op_bind_conn_to_session,
        {actor.session, nfs4::ChannelDirFromClient::CDFC4_FORE_OR_BOTH, false}, actor);
    actor.backchannel->answer_null();
    run(op_reclaim_complete, {}, actor);
    sequence(actor, 1);
    if (open(actor, "f", kRead).delegation.delegation_type != DelegationType::OPEN_DELEGATE_READ)
      return std::size_t{0};
    EXPECT_TRUE(state->recall_for(file, std::nullopt, AccessMode::write));
    return actor.backchannel->take().message.size();
  };
  EXPECT_EQ(recall_bytes("small", kRecallBytes - 4), 0U) << "RFC 8881 18.36.3";
  EXPECT_EQ(recall_bytes("large", kRecallBytes), kRecallBytes);
}

TEST_F(V4DelegationTest, NoDelegationBesideAWriter) {
  open(writer, "f", kWrite);
  EXPECT_EQ(open(holder, "f", kRead).delegation.delegation_type,
            DelegationType::OPEN_DELEGATE_NONE);
}

TEST_F(V4DelegationTest, AWriterWaitsUntilTheDelegationIsBack) {
  const auto stateid = delegated();
  EXPECT_EQ(write_open(), Status::NFS4ERR_DELAY);
  const auto recall = holder.backchannel->answer_recall(Status::NFS4_OK);
  EXPECT_EQ(recall.recall.stateid, stateid);
  EXPECT_EQ(recall.sequence.csa_sequenceid, 1U);
  EXPECT_EQ(recall.sequence.csa_sessionid, holder.session);
  EXPECT_TRUE(std::ranges::equal(recall.recall.fh.view(), View(file)));
  EXPECT_EQ(write_open(), Status::NFS4ERR_DELAY) << "NFS4_OK to CB_RECALL is not the return";
  EXPECT_TRUE(holder.backchannel->calls.empty()) << "one recall is enough";
  EXPECT_EQ(run(op_delegreturn, {stateid}, holder, file).status, Status::NFS4_OK);
  EXPECT_EQ(write_open(), Status::NFS4_OK);
  EXPECT_EQ(run(op_delegreturn, {stateid}, holder, file).status, Status::NFS4ERR_BAD_STATEID);
}

TEST_F(V4DelegationTest, RemovalAndNfs3WaitTooButNotTheHolder) {
  const auto stateid = delegated();
  EXPECT_FALSE(state->recall_for(file, holder.clientid, AccessMode::write));
  EXPECT_FALSE(state->recall_for(file, std::nullopt, AccessMode::read));
  EXPECT_TRUE(holder.backchannel->calls.empty());
  EXPECT_TRUE(state->recall_for(file, std::nullopt, AccessMode::write));
  EXPECT_EQ(io(writer, {}, file, AccessMode::write), Status::NFS4ERR_DELAY);
  holder.backchannel->answer_recall(Status::NFS4_OK);
  run(op_delegreturn, {stateid}, holder, file);
  EXPECT_FALSE(state->recall_for(file, std::nullopt, AccessMode::write));
}

TEST_F(V4DelegationTest, TheHolderOpensUnderItsDelegationDuringTheRecall) {
  const auto stateid = delegated();
  write_open();
  auto args = open_args(holder, {}, kRead);
  args.claim.claim = nfs4::ClaimType::CLAIM_DELEG_CUR_FH;
  args.claim.oc_delegate_stateid = stateid;
  EXPECT_EQ(run(op_open, args, holder, file).status, Status::NFS4_OK);
  args.claim.oc_delegate_stateid.other[0] ^= std::byte{1};
  EXPECT_EQ(run(op_open, args, holder, file).status, Status::NFS4ERR_BAD_STATEID);
}

TEST_F(V4DelegationTest, ADelegationThatIsNotReturnedIsRevokedAfterALease) {
  const auto stateid = delegated();
  write_open();
  holder.backchannel->answer_recall(Status::NFS4_OK);
  pass(kLeaseTime / 2);
  sequence(holder, 1);
  sequence(writer, 1);
  EXPECT_EQ(write_open(), Status::NFS4ERR_DELAY);
  pass(kLeaseTime / 2 + 1s);
  EXPECT_EQ(write_open(), Status::NFS4_OK);
  EXPECT_EQ(sequence(holder, 2).sr_status_flags, nfs4::SEQ4_STATUS_RECALLABLE_STATE_REVOKED);
  EXPECT_EQ(io(holder, stateid, file, AccessMode::read), Status::NFS4ERR_DELEG_REVOKED);
  EXPECT_EQ(run(op_test_stateid, {{stateid}}, holder).resok4.tsr_status_codes,
            std::vector{Status::NFS4ERR_DELEG_REVOKED});
  EXPECT_EQ(close(holder, stateid, file), Status::NFS4ERR_BAD_STATEID)
      << "RFC 8881 15.2 has NFS4ERR_DELEG_REVOKED for no operation on opens and locks";
  EXPECT_EQ(run(op_free_stateid, {stateid}, holder).status, Status::NFS4_OK);
  EXPECT_EQ(sequence(holder, 3).sr_status_flags, 0U);
}

TEST_F(V4DelegationTest, ARecallThatTheClientCannotTakeYetIsSentAgain) {
  delegated();
  write_open();
  holder.backchannel->answer_recall(Status::NFS4ERR_BAD_STATEID);  // it overtook the OPEN's reply
  pass(kRecallPause);
  EXPECT_EQ(holder.backchannel->answer_recall(Status::NFS4_OK).sequence.csa_sequenceid, 2U)
      << "the sequence id of the slot goes on after every answer";
  pass(10 * kRecallPause);
  EXPECT_TRUE(holder.backchannel->calls.empty());
}

TEST_F(V4DelegationTest, AnUnansweredRecallIsRepeatedAsItWasOverTheNextConnection) {
  delegated();
  write_open();
  auto lost = holder.backchannel->take();
  lost.done(tl::unexpected(net::Error{net::Errc::peer_reset, "test"}));
  holder.backchannel = std::make_shared<HeldBackchannel>();
  holder.connection = 20;
  const auto flags = sequence(holder, 1).sr_status_flags;
  EXPECT_EQ(flags, nfs4::SEQ4_STATUS_CB_PATH_DOWN | nfs4::SEQ4_STATUS_CB_PATH_DOWN_SESSION);
  run(op_bind_conn_to_session,
      {holder.session, nfs4::ChannelDirFromClient::CDFC4_FORE_OR_BOTH, false}, holder);
  holder.backchannel->answer_null();
  ASSERT_EQ(holder.backchannel->calls.size(), 1U);
  EXPECT_EQ(holder.backchannel->calls[0].message, lost.message)
      << "RFC 8881 2.10.6.2: slot and sequence id of a callback whose fate is unknown stay";
  holder.backchannel->answer_recall(Status::NFS4_OK);
  EXPECT_EQ(sequence(holder, 2).sr_status_flags, 0U);
}

TEST_F(V4DelegationTest, AFailureOfTheOldConnectionDoesNotTakeTheNewOneDown) {
  delegated();
  write_open();
  auto lost = holder.backchannel->take();
  const auto former = std::exchange(holder.backchannel, std::make_shared<HeldBackchannel>());
  holder.connection = 20;
  run(op_bind_conn_to_session,
      {holder.session, nfs4::ChannelDirFromClient::CDFC4_FORE_OR_BOTH, false}, holder);
  holder.backchannel->answer_null();
  EXPECT_TRUE(holder.backchannel->calls.empty()) << "the recall is still under way";
  lost.done(tl::unexpected(net::Error{net::Errc::peer_reset, "test"}));
  ASSERT_EQ(holder.backchannel->calls.size(), 1U);
  EXPECT_EQ(holder.backchannel->calls[0].message, lost.message);
  EXPECT_EQ(sequence(holder, 1).sr_status_flags, 0U);
}

TEST_F(V4DelegationTest, ARecallMovesToAnotherConnectionOfItsSession) {
  Actor second = holder;
  second.backchannel = std::make_shared<HeldBackchannel>();
  second.connection = 20;
  run(op_bind_conn_to_session,
      {second.session, nfs4::ChannelDirFromClient::CDFC4_FORE_OR_BOTH, false}, second);
  second.backchannel->answer_null();
  delegated();
  write_open();
  auto& carrier = holder.backchannel->calls.empty() ? second : holder;
  auto& other = &carrier == &holder ? second : holder;
  auto lost = carrier.backchannel->take();
  carrier.backchannel.reset();
  lost.done(tl::unexpected(net::Error{net::Errc::not_connected, "test"}));
  other.backchannel->answer_null();
  ASSERT_EQ(other.backchannel->calls.size(), 1U) << "the recall waits for a third connection";
  EXPECT_EQ(other.backchannel->calls[0].message, lost.message);
}

TEST_F(V4DelegationTest, RecallsMoveTogetherAndOverWhatIsLeft) {
  const Handle another = make_file("g");
  delegated();
  open(holder, "g", kRead);
  Actor second = holder;  // another connection of the session
  second.backchannel = std::make_shared<HeldBackchannel>();
  second.connection = 20;
  const Actor third = another_session(30);
  EXPECT_TRUE(state->recall_for(file, std::nullopt, AccessMode::write));
  EXPECT_TRUE(state->recall_for(another, std::nullopt, AccessMode::write));
  std::vector<HeldBackchannel::Held> lost = {holder.backchannel->take(),
                                             holder.backchannel->take()};
  // Its probe is under way when the first connection is cut.
  run(op_bind_conn_to_session,
      {second.session, nfs4::ChannelDirFromClient::CDFC4_FORE_OR_BOTH, false}, second);
  holder.backchannel.reset();
  for (auto& each : lost) each.done(tl::unexpected(net::Error{net::Errc::not_connected, "test"}));
  EXPECT_TRUE(third.backchannel->calls.empty()) << "recalled twice although its session goes on";
  auto probe = second.backchannel->take();
  second.backchannel.reset();
  probe.done(tl::unexpected(net::Error{net::Errc::not_connected, "test"}));
  ASSERT_EQ(third.backchannel->calls.size(), 2U) << "recalls wait though another session is there";
  EXPECT_EQ(third.backchannel->answer_recall(Status::NFS4_OK).sequence.csa_sessionid,
            third.session);
}

TEST_F(V4DelegationTest, ARecallMovesToAnotherSessionOfItsClient) {
  const Actor second = another_session(20);
  const auto stateid = delegated();
  write_open();
  const auto lost = cut_under_call();
  const auto recall = second.backchannel->answer_recall(Status::NFS4_OK);
  EXPECT_EQ(recall.sequence.csa_sessionid, second.session);
  EXPECT_EQ(recall.recall.stateid, stateid);
  // RFC 8881 2.10.6.2: the first session repeats what it could not finish when it has a connection.
  holder.backchannel = std::make_shared<HeldBackchannel>();
  holder.connection = 30;
  run(op_bind_conn_to_session,
      {holder.session, nfs4::ChannelDirFromClient::CDFC4_FORE_OR_BOTH, false}, holder);
  holder.backchannel->answer_null();
  ASSERT_EQ(holder.backchannel->calls.size(), 1U);
  EXPECT_EQ(holder.backchannel->calls[0].message, lost.message);
}

TEST_F(V4DelegationTest, AStrandedRecallTakesASessionThatComesLater) {
  delegated();
  write_open();
  cut_under_call();
  const Actor second = another_session(20);
  pass(kRecallPause);
  EXPECT_EQ(second.backchannel->answer_recall(Status::NFS4_OK).sequence.csa_sessionid,
            second.session);
}

TEST_F(V4DelegationTest, AContendedFileIsNotDelegatedAgainAtOnce) {
  const auto stateid = delegated();
  write_open();
  holder.backchannel->answer_recall(Status::NFS4_OK);
  run(op_delegreturn, {stateid}, holder, file);
  const auto again = open(holder, "f", kRead | nfs4::OPEN4_SHARE_ACCESS_WANT_READ_DELEG);
  EXPECT_EQ(again.delegation.od_whynone.ond_why, nfs4::WhyNoDelegation::WND4_CONTENTION);
}

TEST_F(V4DelegationTest, AContendedFileIsForgottenAtItsTime) {
  const auto opened = open(holder, "f", kRead);
  write_open();
  holder.backchannel->answer_recall(Status::NFS4_OK);
  run(op_delegreturn, {opened.delegation.read.stateid}, holder, file);
  EXPECT_EQ(close(holder, opened.stateid, file), Status::NFS4_OK);
  EXPECT_EQ(state->tables().files.size(), 1U);
  pass(kContentionPause - 1s);
  EXPECT_EQ(state->tables().files.size(), 1U) << "forgotten too early";
  pass(2s);
  EXPECT_TRUE(state->tables().files.empty());
  EXPECT_TRUE(state->tables().contended.empty());
}

TEST_F(V4DelegationTest, CallbacksOfASessionThatIsGoneDoNoHarm) {
  delegated();
  write_open();
  auto late = holder.backchannel->take();
  run(op_destroy_session, {holder.session}, holder);
  late.done(tl::unexpected(net::Error{net::Errc::peer_closed, "test"}));
  state.reset();
  late.done(tl::unexpected(net::Error{net::Errc::peer_closed, "test"}));
}

}  // namespace
}  // namespace steertag::peer::testing
