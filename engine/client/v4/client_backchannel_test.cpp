// How a client's session keeps its backchannel: made, bound again, given up, and used.
#include <array>

#include "client/testing/client_backchannel_fixture.h"
#include "client/v4/nfs4_files.h"
#include "rpc/message.h"

namespace steertag::peer::testing {
namespace {

TEST_F(ClientBackchannelTest, IsAskedForWithTheSession) {
  ASSERT_TRUE(call());
  const nfs4::CreateSessionArgs& args = creates.front();
  EXPECT_EQ(args.csa_flags, nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN);
  EXPECT_EQ(args.csa_cb_program, kCallbackProgram);
  EXPECT_EQ(args.csa_back_chan_attrs.ca_maxrequestsize, 4068U);
  EXPECT_EQ(args.csa_back_chan_attrs.ca_maxresponsesize, 996U);
  EXPECT_EQ(args.csa_back_chan_attrs.ca_maxrequests, kClientBackSlots);
  EXPECT_EQ(count(Opnum::OP_BIND_CONN_TO_SESSION), 0) << "the connection is part of it already";
}

TEST_F(ClientBackchannelTest, IsServedForAsLongAsTheSessionIsThere) {
  EXPECT_NE(transport.service, nullptr) << "before the first call (RFC 8167 6)";
  { const ClientSession other(schedule, options()); }
  EXPECT_EQ(transport.service, nullptr);
}

TEST_F(ClientBackchannelTest, NextConnectionIsBoundByACallOfItsOwn) {
  ASSERT_TRUE(call());
  transport.connection = 2;
  seen.clear();
  ASSERT_TRUE(call());
  settle();
  ASSERT_EQ(binds.size(), 1U);
  EXPECT_EQ(binds[0].bctsa_sessid[0], std::byte{1});
  EXPECT_EQ(binds[0].bctsa_dir, nfs4::ChannelDirFromClient::CDFC4_FORE_OR_BOTH);
  const auto at = std::find(seen.begin(), seen.end(), Opnum::OP_BIND_CONN_TO_SESSION);
  EXPECT_TRUE(at == seen.begin() || *(at - 1) != Opnum::OP_SEQUENCE);
  ASSERT_TRUE(call());
  settle();
  EXPECT_EQ(binds.size(), 1U) << "once for a connection";
}

TEST_F(ClientBackchannelTest, SessionWithoutOneIsNotBound) {
  transport.reverse.reset();
  ASSERT_TRUE(call());
  EXPECT_EQ(creates.front().csa_flags, 0U);
  transport.connection = 2;
  flags = nfs4::SEQ4_STATUS_CB_PATH_DOWN;
  ASSERT_TRUE(call());
  settle();
  EXPECT_TRUE(binds.empty());
}

TEST_F(ClientBackchannelTest, WordOfTheServerThatThePathIsDownIsHeeded) {
  for (const std::uint32_t flag :
       {nfs4::SEQ4_STATUS_CB_PATH_DOWN, nfs4::SEQ4_STATUS_CB_PATH_DOWN_SESSION}) {
    flags = 0;
    ASSERT_TRUE(call());
    binds.clear();
    flags = flag;
    ASSERT_TRUE(call());
    flags = 0;
    settle();
    EXPECT_EQ(binds.size(), 1U) << flag;
  }
}

TEST_F(ClientBackchannelTest, CallsFromBeforeTheBindDoNotAskForAnother) {
  ASSERT_TRUE(call());
  flags = nfs4::SEQ4_STATUS_CB_PATH_DOWN;
  int done = 0;
  for (int i = 0; i < 3; ++i)
    session.call(null_call(), [&](const Expected<CompoundReply, FileError>&) { ++done; });
  schedule.run_until([&] { return done == 3; });
  flags = 0;
  settle();
  EXPECT_EQ(binds.size(), 1U);
}

TEST_F(ClientBackchannelTest, BindIsRepeatedAfterADelay) {
  ASSERT_TRUE(call());
  next_status[Opnum::OP_BIND_CONN_TO_SESSION] = {Status::NFS4ERR_DELAY};
  transport.connection = 2;
  ASSERT_TRUE(call());
  for (int i = 0; i < 20; ++i) schedule.step(1s);
  EXPECT_EQ(binds.size(), 2U);
  EXPECT_EQ(session.binds(), 2U);
  EXPECT_EQ(session.sessions_made(), 1U);
}

TEST_F(ClientBackchannelTest, RefusedBindGivesTheSessionUp) {
  ASSERT_TRUE(call());
  next_status[Opnum::OP_BIND_CONN_TO_SESSION] = {Status::NFS4ERR_INVAL};
  transport.connection = 2;
  ASSERT_TRUE(call());
  settle();
  EXPECT_EQ(count(Opnum::OP_DESTROY_SESSION), 1);
  ASSERT_TRUE(call());
  EXPECT_EQ(session.sessions_made(), 2U);
  EXPECT_EQ(binds.size(), 1U);
}

TEST_F(ClientBackchannelTest, SessionIsGivenUpWhenNoBindHelps) {
  flags = nfs4::SEQ4_STATUS_CB_PATH_DOWN_SESSION;
  for (int i = 0; session.sessions_made() < 2 && i < 100; ++i) ASSERT_TRUE(call());
  EXPECT_EQ(binds.size(), kMostVainBinds);
  EXPECT_EQ(count(Opnum::OP_DESTROY_SESSION), 1);
}

TEST_F(ClientBackchannelTest, FaultThatTheServerTellsEndsTheSession) {
  ASSERT_TRUE(call());
  flags = nfs4::SEQ4_STATUS_BACKCHANNEL_FAULT;
  ASSERT_TRUE(call());
  flags = 0;
  settle();
  EXPECT_EQ(count(Opnum::OP_DESTROY_SESSION), 1);
  EXPECT_TRUE(binds.empty());
  ASSERT_TRUE(call());
  EXPECT_EQ(session.sessions_made(), 2U);
}

TEST_F(ClientBackchannelTest, SessionIsLeftOnlyWhenItsCallsHaveEnded) {
  ASSERT_TRUE(call());
  next_status[Opnum::OP_BIND_CONN_TO_SESSION] = {Status::NFS4ERR_INVAL};
  transport.connection = 2;
  int done = 0;
  for (int i = 0; i < 6; ++i)
    session.call(null_call(), [&](const Expected<CompoundReply, FileError>& reply) {
      EXPECT_TRUE(reply);
      ++done;
    });
  schedule.run_until([&] { return done == 6; });
  const auto destroyed = std::find(seen.begin(), seen.end(), Opnum::OP_DESTROY_SESSION);
  EXPECT_EQ(std::count(seen.begin(), destroyed, Opnum::OP_PUTROOTFH), 5) << "those under way";
  EXPECT_EQ(session.sessions_made(), 2U);
}

TEST_F(ClientBackchannelTest, ServerThatGrantsTheForeChannelAloneIsLeftInPeace) {
  ASSERT_TRUE(call());
  granted = nfs4::ChannelDirFromServer::CDFS4_FORE;
  transport.connection = 2;
  ASSERT_TRUE(call());
  settle();
  transport.connection = 3;
  ASSERT_TRUE(call());
  settle();
  EXPECT_EQ(binds.size(), 1U);
}

TEST_F(ClientBackchannelTest, RecalledSlotsAreNotUsedAndTheServerIsTold) {
  ASSERT_TRUE(call());
  target = 0;  // what the server says in SEQUENCE too
  EXPECT_EQ(recall_slot(0), Status::NFS4_OK);
  sequences.clear();
  settle();
  ASSERT_EQ(sequences.size(), 1U) << "a SEQUENCE of its own";
  EXPECT_EQ(sequences[0].sa_highest_slotid, 0U);
  int done = 0;
  for (int i = 0; i < 3; ++i)
    session.call(null_call(), [&](const Expected<CompoundReply, FileError>&) { ++done; });
  EXPECT_EQ(transport.pending(), 1U);
  schedule.run_until([&] { return done == 3; });
  for (const nfs4::SequenceArgs& each : sequences) EXPECT_EQ(each.sa_slotid, 0U);
}

TEST_F(ClientBackchannelTest, ReplyFromBeforeTheRecallDoesNotUndoIt) {
  ASSERT_TRUE(call());
  session.call(null_call(), [](const Expected<CompoundReply, FileError>&) {});
  EXPECT_EQ(recall_slot(1), Status::NFS4_OK);
  schedule.step(0ms);  // its reply says that slot 3 may be used
  for (int i = 0; i < 6; ++i)
    session.call(null_call(), [](const Expected<CompoundReply, FileError>&) {});
  EXPECT_EQ(transport.pending(), 2U);
  settle();
}

TEST_F(ClientBackchannelTest, TargetAboveTheOwnChangesNothing) {
  ASSERT_TRUE(call());
  EXPECT_EQ(recall_slot(100), Status::NFS4_OK);
  sequences.clear();
  settle();
  EXPECT_TRUE(sequences.empty());
}

TEST_F(ClientBackchannelTest, RecallOfWhatAReplyBringsIsDelayed) {
  ASSERT_TRUE(call());
  session.call(null_call(), [](const Expected<CompoundReply, FileError>&) {});
  nfs4::ReferringCallList list;
  list.rcl_sessionid[0] = std::byte{1};
  list.rcl_referring_calls.push_back({3, 0});  // the third call in slot 0
  referring.push_back(list);
  EXPECT_EQ(callback(CbOpnum::OP_CB_RECALL, nfs4::CbRecallArgs{}), Status::NFS4ERR_DELAY);
  settle();
  EXPECT_EQ(callback(CbOpnum::OP_CB_RECALL, nfs4::CbRecallArgs{}), Status::NFS4ERR_BAD_STATEID);
}

TEST_F(ClientBackchannelTest, UnwantedDelegationIsReturned) {
  delegation.delegation_type = nfs4::DelegationType::OPEN_DELEGATE_READ;
  delegation.read.stateid.other[0] = std::byte{9};
  Nfs4Files files(schedule, options());
  const std::array<std::byte, 4> handle{};
  ASSERT_TRUE(files.open(RemoteHandle(View(handle))));
  nfs4::CbRecallArgs recalled;
  recalled.stateid = delegation.read.stateid;
  EXPECT_EQ(callback(CbOpnum::OP_CB_RECALL, recalled), Status::NFS4_OK) << "it is on its way";
  settle();
  EXPECT_EQ(count(Opnum::OP_DELEGRETURN), 1);
  EXPECT_EQ(callback(CbOpnum::OP_CB_RECALL, recalled), Status::NFS4ERR_BAD_STATEID);
  EXPECT_EQ(accesses.back() & nfs4::OPEN4_SHARE_ACCESS_WANT_DELEG_MASK,
            nfs4::OPEN4_SHARE_ACCESS_WANT_NO_DELEG);
}

TEST_F(ClientBackchannelTest, KeptDelegationIsReturnedByItsUserAfterTheRecall) {
  delegation.delegation_type = nfs4::DelegationType::OPEN_DELEGATE_READ;
  delegation.read.stateid.other[0] = std::byte{9};
  Nfs4Files files(schedule, options());
  std::vector<RemoteFile> recalls;
  files.keep_delegations([&](RemoteFile file) { recalls.push_back(file); });
  const std::array<std::byte, 4> handle{};
  const auto file = files.open(RemoteHandle(View(handle)));
  ASSERT_TRUE(file);
  EXPECT_EQ(accesses.back() & nfs4::OPEN4_SHARE_ACCESS_WANT_DELEG_MASK,
            nfs4::OPEN4_SHARE_ACCESS_WANT_READ_DELEG);
  nfs4::CbRecallArgs recalled;
  recalled.stateid.other[0] = std::byte{8};
  EXPECT_EQ(callback(CbOpnum::OP_CB_RECALL, recalled), Status::NFS4ERR_BAD_STATEID);
  recalled.stateid = delegation.read.stateid;
  EXPECT_EQ(callback(CbOpnum::OP_CB_RECALL, recalled), Status::NFS4_OK);
  settle();
  EXPECT_EQ(recalls, std::vector{*file});
  EXPECT_EQ(count(Opnum::OP_DELEGRETURN), 0) << "its user has not ended the use";
  files.return_delegation(*file);
  settle();
  EXPECT_EQ(count(Opnum::OP_DELEGRETURN), 1);
  files.return_delegation(*file);
  settle();
  EXPECT_EQ(count(Opnum::OP_DELEGRETURN), 1) << "once";
}

/// A file is opened. Before the reply its delegation is recalled, with `recall`.
class EarlyRecallTest : public ClientBackchannelTest {
 protected:
  EarlyRecallTest() {
    delegation.delegation_type = nfs4::DelegationType::OPEN_DELEGATE_READ;
    delegation.read.stateid.other[0] = std::byte{9};
    recall.stateid = delegation.read.stateid;
    recall.fh = nfs4::FileHandle(View(kHandle));
    files.keep_delegations([&](RemoteFile file) {
      recalled.push_back(file);
      files.return_delegation(file);
    });
  }
  RemoteFile open(std::size_t recalls_before_reply) {
    before_open_reply = [this, recalls_before_reply] {
      for (std::size_t i = 0; i < recalls_before_reply; ++i)
        statuses.push_back(callback(CbOpnum::OP_CB_RECALL, recall));
    };
    const auto file = files.open(RemoteHandle(View(kHandle)));
    EXPECT_TRUE(file);
    settle();
    return file.value_or(0);
  }

  static constexpr std::array<std::byte, 4> kHandle{std::byte{7}};
  Nfs4Files files{schedule, options()};
  nfs4::CbRecallArgs recall;
  std::vector<Status> statuses;
  std::vector<RemoteFile> recalled;
};

TEST_F(EarlyRecallTest, HoldsWhenTheReplyBringsTheDelegation) {
  const RemoteFile file = open(1);
  EXPECT_EQ(statuses, std::vector{Status::NFS4ERR_DELAY}) << "it does not complete the recall";
  EXPECT_EQ(recalled, std::vector{file});
  EXPECT_EQ(count(Opnum::OP_DELEGRETURN), 1);
}

TEST_F(EarlyRecallTest, CountsOnce) {
  open(2);
  EXPECT_EQ(recalled.size(), 1U);
  EXPECT_EQ(count(Opnum::OP_DELEGRETURN), 1);
}

TEST_F(EarlyRecallTest, OfAnotherStateidLeavesTheDelegation) {
  recall.stateid.other[0] = std::byte{8};
  open(1);
  EXPECT_EQ(statuses, std::vector{Status::NFS4ERR_DELAY}) << "which it is the reply will say";
  EXPECT_TRUE(recalled.empty());
  EXPECT_EQ(count(Opnum::OP_DELEGRETURN), 0);
}

TEST_F(EarlyRecallTest, OfAnotherFileIsRefused) {
  recall.fh = nfs4::FileHandle(View(kHandle).first(3));
  open(1);
  EXPECT_EQ(statuses, std::vector{Status::NFS4ERR_BAD_STATEID});
  EXPECT_EQ(count(Opnum::OP_DELEGRETURN), 0);
}

TEST_F(EarlyRecallTest, IsForgottenWithTheReply) {
  recall.stateid.other[0] = std::byte{8};
  open(1);
  delegation.read.stateid.other[0] = std::byte{8};
  open(0);
  EXPECT_TRUE(recalled.empty()) << "the recall was of the OPEN before";
  recall.stateid.other[0] = std::byte{5};
  EXPECT_EQ(callback(CbOpnum::OP_CB_RECALL, recall), Status::NFS4ERR_BAD_STATEID);
}

TEST_F(EarlyRecallTest, BeyondTheLimitItIsDelayedAlone) {
  before_open_reply = [this] {
    for (std::size_t i = 1; i <= kMostEarlyRecalls; ++i) {
      recall.stateid.other[1] = static_cast<std::byte>(i);
      EXPECT_EQ(callback(CbOpnum::OP_CB_RECALL, recall), Status::NFS4ERR_DELAY);
    }
    recall.stateid = delegation.read.stateid;
    EXPECT_EQ(callback(CbOpnum::OP_CB_RECALL, recall), Status::NFS4ERR_DELAY);
  };
  const auto file = files.open(RemoteHandle(View(kHandle)));
  ASSERT_TRUE(file);
  EXPECT_TRUE(recalled.empty());
  EXPECT_EQ(callback(CbOpnum::OP_CB_RECALL, recall), Status::NFS4_OK) << "the server repeats it";
  EXPECT_EQ(recalled, std::vector{*file});
}

TEST_F(ClientBackchannelTest, KeptDelegationIsReturnedAtClose) {
  delegation.delegation_type = nfs4::DelegationType::OPEN_DELEGATE_READ;
  Nfs4Files files(schedule, options());
  files.keep_delegations([](RemoteFile) {});
  const std::array<std::byte, 4> handle{};
  const auto file = files.open(RemoteHandle(View(handle)));
  ASSERT_TRUE(file);
  (void)files.close(*file);
  const auto back = std::ranges::find(seen, Opnum::OP_DELEGRETURN);
  ASSERT_NE(back, seen.end());
  EXPECT_NE(std::find(back, seen.end(), Opnum::OP_CLOSE), seen.end())
      << "first goes what it covers";
  settle();
}

}  // namespace
}  // namespace steertag::peer::testing
