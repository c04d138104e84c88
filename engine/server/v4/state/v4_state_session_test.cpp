// Sessions of NFSv4.1: CREATE_SESSION, SEQUENCE, BIND_CONN_TO_SESSION, DESTROY_SESSION.
#include "server/testing/v4_state_fixture.h"

namespace steertag::peer::testing {
namespace {

using V4SessionTest = V4StateTest;

TEST_F(V4SessionTest, CreateSessionRepliesOnceAndRepeatsItself) {
  Actor actor;
  const auto id = run(op_exchange_id, exchange_args(actor), actor).resok4;
  auto args = session_args(id.eir_clientid, id.eir_sequenceid);
  EXPECT_EQ(
      run(op_create_session, session_args(id.eir_clientid, id.eir_sequenceid + 1), actor).status,
      Status::NFS4ERR_SEQ_MISORDERED);
  EXPECT_EQ(
      run(op_create_session, session_args(id.eir_clientid, id.eir_sequenceid - 1), actor).status,
      Status::NFS4ERR_SEQ_MISORDERED)
      << "RFC 8881 18.36.4: the contrived result of the slot before its first use";
  const auto made = run(op_create_session, args, actor).resok4;
  const auto again = run(op_create_session, args, actor).resok4;
  EXPECT_EQ(made.csr_sessionid, again.csr_sessionid);
  EXPECT_EQ(state->tables().sessions.size(), 1U);
}

TEST_F(V4SessionTest, ChannelsShrinkButDoNotGrow) {
  Actor actor;
  const auto id = run(op_exchange_id, exchange_args(actor), actor).resok4;
  auto args = session_args(id.eir_clientid, id.eir_sequenceid);
  args.csa_flags |= nfs4::CREATE_SESSION4_FLAG_CONN_RDMA | nfs4::CREATE_SESSION4_FLAG_PERSIST;
  args.csa_fore_chan_attrs = {4, ~0U, ~0U, ~0U, 1000, 1000, {}};
  args.csa_fore_chan_attrs.ca_rdma_ird.push_back(1000);
  const auto made = run(op_create_session, args, actor).resok4;
  EXPECT_EQ(made.csr_flags, nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN)
      << "neither PERSIST nor CONN_RDMA is ever granted";
  EXPECT_EQ(made.csr_fore_chan_attrs.ca_maxrequests, kMostSlots);
  EXPECT_EQ(made.csr_fore_chan_attrs.ca_maxresponsesize_cached, kLargestCachedReply);
  EXPECT_EQ(made.csr_fore_chan_attrs.ca_maxoperations, kMostOperationsPerCompound);
  ASSERT_EQ(made.csr_fore_chan_attrs.ca_rdma_ird.size(), 1U);
  EXPECT_EQ(made.csr_fore_chan_attrs.ca_rdma_ird[0], kMostIrd);
  EXPECT_EQ(made.csr_back_chan_attrs, args.csa_back_chan_attrs)
      << "RFC 8881 18.36.3: operations and requests of the backchannel are the client's";
}

TEST_F(V4SessionTest, SlotsAreBoundByCreditsUnlessTheOptionsSayHowMany) {
  const auto granted = [this](std::uint32_t of_options, std::uint32_t by_credits) {
    Nfs4StateOptions options;
    options.clock = [this] { return now; };
    options.random = seeded_random(++starts);
    options.slots = of_options;
    state = std::make_unique<Nfs4State>(options);
    Actor actor;
    actor.most_slots = by_credits;
    const auto id = run(op_exchange_id, exchange_args(actor), actor).resok4;
    auto args = session_args(id.eir_clientid, id.eir_sequenceid);
    args.csa_fore_chan_attrs.ca_maxrequests = 2000;
    return run(op_create_session, args, actor).resok4.csr_fore_chan_attrs.ca_maxrequests;
  };
  EXPECT_EQ(granted(0, 5), 5U);
  EXPECT_EQ(granted(0, 128), kMostSlots);
  EXPECT_EQ(granted(0, 0), kMostSlots) << "over TCP";
  EXPECT_EQ(granted(10, 5), 10U);
  EXPECT_EQ(granted(4, 8), 4U);
  EXPECT_EQ(granted(256, 128), 256U);
  EXPECT_EQ(granted(256, 0), 256U);
  EXPECT_EQ(granted(kMostOfferedSlots + 1, 0), kMostOfferedSlots);
}

TEST_F(V4SessionTest, ASessionThatCannotWorkIsNotMade) {
  Actor actor;
  const auto id = run(op_exchange_id, exchange_args(actor), actor).resok4;
  auto args = session_args(id.eir_clientid, id.eir_sequenceid);
  args.csa_fore_chan_attrs.ca_maxresponsesize = 20;
  EXPECT_EQ(run(op_create_session, args, actor).status, Status::NFS4ERR_TOOSMALL);
  EXPECT_EQ(state->tables().sessions.size(), 0U);
  EXPECT_EQ(run(op_create_session, session_args(id.eir_clientid, 2), actor).status, Status::NFS4_OK)
      << "a failure uses its csa_sequence up, as a success does";
}

TEST_F(V4SessionTest, SessionsAndCachedOctetsHaveLimits) {
  Actor actor = mounted();
  Status last = Status::NFS4_OK;
  std::size_t made = 1;
  for (; made < 2 * kMostSessionsPerClient && last == Status::NFS4_OK; ++made)
    last = run(op_create_session,
               session_args(actor.clientid, static_cast<std::uint32_t>(made + 1)), actor)
               .status;
  EXPECT_EQ(last, Status::NFS4ERR_NOSPC);
  EXPECT_EQ(state->tables().sessions.size(), kMostSessionsPerClient);
  EXPECT_LE(state->tables().cached_bytes, kMostCachedBytes);
}

TEST_F(V4SessionTest, TheClientsOfOneHostLeaveReplyCachesToOthers) {
  const auto come = [&](const std::string& host, std::size_t number, std::size_t sessions) {
    Actor actor;
    actor.owner = host + ' ' + std::to_string(number);
    actor.host = host;
    const auto id = run(op_exchange_id, exchange_args(actor), actor);
    EXPECT_EQ(id.status, Status::NFS4_OK);
    auto args = session_args(id.resok4.eir_clientid, 0);
    args.csa_flags = 0;
    args.csa_fore_chan_attrs.ca_maxresponsesize_cached = kLargestCachedReply;
    Status last = Status::NFS4_OK;
    for (std::size_t i = 0; i < sessions && last == Status::NFS4_OK; ++i) {
      ++args.csa_sequence;
      last = run(op_create_session, args, actor).status;
    }
    return last;
  };
  Status last = Status::NFS4_OK;
  for (std::size_t i = 0; i < kMostClientsPerHost && last == Status::NFS4_OK; ++i)
    last = come("192.0.2.66", i, kMostSessionsPerClient);
  EXPECT_EQ(last, Status::NFS4ERR_NOSPC);
  EXPECT_LE(state->tables().cached_bytes, kMostCachedBytesPerHost);
  EXPECT_EQ(come("192.0.2.67", 0, 1), Status::NFS4_OK) << "one host has shut the others out";
  pass(kLeaseTime + 1s);
  EXPECT_EQ(state->tables().cached_bytes, 0U);
}

TEST_F(V4SessionTest, TenThousandClientsHaveASessionEach) {
  constexpr std::uint64_t kClients = 10'000;
  std::uint32_t fewest = kMostSlots;
  for (std::uint64_t i = 0; i < kClients; ++i) {
    Actor actor;
    actor.owner = "client " + std::to_string(i);
    actor.connection = i + 1;
    actor.host = "192.0.2." + std::to_string(i % 250);
    const auto id = run(op_exchange_id, exchange_args(actor), actor);
    ASSERT_EQ(id.status, Status::NFS4_OK) << i;
    auto args = session_args(id.resok4.eir_clientid, id.resok4.eir_sequenceid);
    args.csa_fore_chan_attrs.ca_maxresponsesize_cached = kLargestCachedReply;
    const auto made = run(op_create_session, args, actor);
    ASSERT_EQ(made.status, Status::NFS4_OK) << i;
    fewest = std::min(fewest, made.resok4.csr_fore_chan_attrs.ca_maxrequests);
  }
  EXPECT_EQ(fewest, kFewSlots);
  EXPECT_LE(state->tables().cached_bytes, kMostCachedBytes);
}

TEST_F(V4SessionTest, SlotsTakeSequenceIdsInOrder) {
  Actor actor = mounted();
  const auto status = [&](nfs4::SequenceArgs args) { return run(op_sequence, args, actor).status; };
  EXPECT_EQ(status(sequence_args(actor, 0)), Status::NFS4ERR_SEQ_MISORDERED);
  EXPECT_EQ(status(sequence_args(actor, 2)), Status::NFS4ERR_SEQ_MISORDERED);
  EXPECT_EQ(status(sequence_args(actor, 1, 64)), Status::NFS4ERR_BADSLOT);
  auto high = sequence_args(actor, 1, 3);
  high.sa_highest_slotid = 2;
  EXPECT_EQ(status(high), Status::NFS4ERR_BAD_HIGH_SLOT);
  high.sa_highest_slotid = 64;
  EXPECT_EQ(status(high), Status::NFS4ERR_BAD_HIGH_SLOT) << "RFC 8881 15.1.11.3";
  const auto ok = sequence(actor, 1);
  EXPECT_EQ(ok.sr_highest_slotid, 63U);
  EXPECT_EQ(ok.sr_status_flags, 0U);
  sequence(actor, 2);
  EXPECT_EQ(status(sequence_args(actor, 1)), Status::NFS4ERR_SEQ_MISORDERED);
}

TEST_F(V4SessionTest, ARequestAboveTheLimitsLeavesItsSlotAsItWas) {
  Actor actor = mounted();
  operation_count = 9;
  EXPECT_EQ(run(op_sequence, sequence_args(actor, 1), actor).status, Status::NFS4ERR_TOO_MANY_OPS);
  operation_count = 3;
  request_bytes = 2'000'000;
  EXPECT_EQ(run(op_sequence, sequence_args(actor, 1), actor).status, Status::NFS4ERR_REQ_TOO_BIG);
  request_bytes = 200;
  sequence(actor, 1);
}

TEST_F(V4SessionTest, ARetryOnAnotherConnectionGetsTheCachedReply) {
  Actor actor = mounted();
  auto args = sequence_args(actor, 1);
  args.sa_cachethis = true;
  ASSERT_EQ(run(op_sequence, args, actor).status, Status::NFS4_OK);
  ReplyPayload results = results_of(40, "kept");  // larger than what is kept unasked
  results.slices().push_back({View(results.stream()).first(4), nullptr});
  results.add_item(0, 4);
  const Bytes octets = results.stream();
  state->end_sequence(*slot, results);
  actor.connection = 77;
  ASSERT_EQ(run(op_sequence, args, actor).status, Status::NFS4_OK);
  ASSERT_NE(slot->replay, nullptr) << "the request would be executed twice";
  EXPECT_EQ(slot->replay->stream(), octets);
  EXPECT_EQ(slot->replay->size(), octets.size() + 4);
}

TEST_F(V4SessionTest, AReplyThatWasNotCachedIsNotMadeAgain) {
  Actor actor = mounted();
  const auto args = sequence_args(actor, 1);
  ASSERT_EQ(run(op_sequence, args, actor).status, Status::NFS4_OK);
  state->end_sequence(*slot, results_of(100, ""));
  ASSERT_EQ(run(op_sequence, args, actor).status, Status::NFS4_OK)
      << "RFC 8881 2.10.6.1.3: SEQUENCE itself succeeds";
  ASSERT_NE(slot->replay, nullptr);
  wire::Reader reader(slot->replay->stream());
  nfs4::CompoundResult compound;
  compound.decode(reader);
  EXPECT_EQ(compound.status, Status::NFS4ERR_RETRY_UNCACHED_REP);
  nfs4::OperationReader<nfs4::Opnum> operations(reader, "resarray");
  EXPECT_EQ(operations.count(), 2U);
}

TEST_F(V4SessionTest, AnotherRequestUnderTheSameSequenceIdIsAFalseRetry) {
  Actor actor = mounted();
  sequence(actor, 1);
  request_bytes = 204;
  EXPECT_EQ(run(op_sequence, sequence_args(actor, 1), actor).status,
            Status::NFS4ERR_SEQ_FALSE_RETRY);
  request_bytes = 200;
  actor.uid = 1000;
  EXPECT_EQ(run(op_sequence, sequence_args(actor, 1), actor).status,
            Status::NFS4ERR_SEQ_FALSE_RETRY)
      << "RFC 8881 2.10.6.1.3.1: another user must not see the reply";
}

TEST_F(V4SessionTest, DestroySessionNeedsAConnectionOfTheSession) {
  Actor actor = mounted();
  Actor stranger = actor;
  stranger.connection = 50;
  EXPECT_EQ(run(op_destroy_session, {actor.session}, stranger).status,
            Status::NFS4ERR_CONN_NOT_BOUND_TO_SESSION);
  sequence(stranger, 1);  // associates the connection (RFC 8881 18.34.3)
  EXPECT_EQ(run(op_destroy_session, {actor.session}, stranger).status, Status::NFS4_OK);
  EXPECT_EQ(run(op_destroy_session, {actor.session}, actor).status, Status::NFS4ERR_BADSESSION);
  EXPECT_EQ(state->tables().cached_bytes, 0U);
}

TEST_F(V4SessionTest, BindConnectionGrantsDirectionsAndTellsTheRdmaMode) {
  using From = nfs4::ChannelDirFromClient;
  using To = nfs4::ChannelDirFromServer;
  Actor actor = mounted();
  actor.connection = 5;
  const auto bind = [&](From direction, bool rdma) {
    return run(op_bind_conn_to_session, {actor.session, direction, rdma}, actor);
  };
  EXPECT_EQ(bind(From::CDFC4_FORE, false).resok4.bctsr_dir, To::CDFS4_FORE);
  const auto both = bind(From::CDFC4_FORE_OR_BOTH, true);
  EXPECT_EQ(both.resok4.bctsr_dir, To::CDFS4_BOTH);
  EXPECT_TRUE(both.resok4.bctsr_use_conn_in_rdma_mode);
  EXPECT_EQ(bind(From::CDFC4_FORE, false).status, Status::NFS4ERR_INVAL)
      << "RFC 8881 18.34.3: a connection does not lose a channel";
  actor.connection = 6;
  actor.rdma = false;
  const auto back = bind(From::CDFC4_BACK, true);
  EXPECT_EQ(back.resok4.bctsr_dir, To::CDFS4_BACK);
  EXPECT_FALSE(back.resok4.bctsr_use_conn_in_rdma_mode) << "TCP is never stepped up";
}

TEST_F(V4SessionTest, ALostBackchannelIsToldUntilAnotherConnectionServesIt) {
  Actor actor = mounted();
  EXPECT_EQ(sequence(actor, 1).sr_status_flags, 0U);
  actor.backchannel =
      std::make_shared<HeldBackchannel>();  // the connection is down: a new one comes
  actor.connection = 2;
  EXPECT_EQ(sequence(actor, 2).sr_status_flags, nfs4::SEQ4_STATUS_CB_PATH_DOWN);
  run(op_bind_conn_to_session,
      {actor.session, nfs4::ChannelDirFromClient::CDFC4_FORE_OR_BOTH, false}, actor);
  actor.backchannel->answer_null();
  EXPECT_EQ(sequence(actor, 3).sr_status_flags, 0U);
}

TEST_F(V4SessionTest, ReclaimCompleteIsSaidOnce) {
  Actor actor = mounted();
  EXPECT_EQ(run(op_reclaim_complete, {}, actor).status, Status::NFS4ERR_COMPLETE_ALREADY);
}

}  // namespace
}  // namespace steertag::peer::testing
