// Clients of NFSv4 and their leases: EXCHANGE_ID, SETCLIENTID and their confirmations.
#include "server/testing/v4_state_fixture.h"

namespace steertag::peer::testing {
namespace {

constexpr std::uint32_t kUpdate = nfs4::EXCHGID4_FLAG_UPD_CONFIRMED_REC_A;
constexpr std::uint32_t kConfirmed = nfs4::EXCHGID4_FLAG_CONFIRMED_R;

using V4ClientTest = V4StateTest;

TEST_F(V4ClientTest, AConfirmedClientIsRecognizedByOwnerAndVerifier) {
  Actor actor = mounted();
  const auto again = run(op_exchange_id, exchange_args(actor), actor).resok4;
  EXPECT_EQ(again.eir_clientid, actor.clientid) << "RFC 8881 18.35.4 case 2";
  EXPECT_TRUE(again.eir_flags & kConfirmed) << "clients detect trunking by this flag";
  EXPECT_TRUE(again.eir_flags & nfs4::EXCHGID4_FLAG_USE_NON_PNFS);
}

TEST_F(V4ClientTest, AnUnconfirmedRecordIsReplaced) {
  Actor actor;
  const auto first = run(op_exchange_id, exchange_args(actor), actor).resok4;
  const auto second = run(op_exchange_id, exchange_args(actor), actor).resok4;
  EXPECT_NE(first.eir_clientid, second.eir_clientid) << "RFC 8881 18.35.4 case 4";
  EXPECT_FALSE(second.eir_flags & kConfirmed);
  EXPECT_EQ(run(op_create_session, session_args(first.eir_clientid, 1), actor).status,
            Status::NFS4ERR_STALE_CLIENTID);
}

TEST_F(V4ClientTest, ARestartedClientKeepsItsOldStateUntilItsNewSession) {
  Actor actor = mounted();
  const Handle file = make_file("f");
  const auto opened = open(actor, "f", 3);
  const auto fresh = run(op_exchange_id, exchange_args(actor, 2), actor).resok4;
  EXPECT_NE(fresh.eir_clientid, actor.clientid);
  EXPECT_EQ(io(actor, opened.stateid, file, AccessMode::read), Status::NFS4_OK);
  EXPECT_EQ(run(op_create_session, session_args(fresh.eir_clientid, 1), actor).status,
            Status::NFS4_OK);
  EXPECT_EQ(run(op_sequence, sequence_args(actor, 1), actor).status, Status::NFS4ERR_BADSESSION)
      << "the sessions of the former instance go with its state";
  EXPECT_EQ(io(actor, opened.stateid, file, AccessMode::read), Status::NFS4ERR_BAD_STATEID);
}

TEST_F(V4ClientTest, AnotherPrincipalCannotTakeAClientWithStateAway) {
  Actor actor = mounted();
  make_file("f");
  open(actor, "f", 1);
  Actor other = actor;
  other.uid = 1000;
  EXPECT_EQ(run(op_exchange_id, exchange_args(other), other).status, Status::NFS4ERR_CLID_INUSE);
}

TEST_F(V4ClientTest, OnlyThePrincipalOfExchangeIdConfirmsAClient) {
  Actor actor;
  const auto id = run(op_exchange_id, exchange_args(actor), actor).resok4;
  const auto args = session_args(id.eir_clientid, id.eir_sequenceid);
  Actor other = actor;
  other.uid = 1000;
  EXPECT_EQ(run(op_create_session, args, other).status, Status::NFS4ERR_CLID_INUSE);
  const auto made = run(op_create_session, args, actor);
  ASSERT_EQ(made.status, Status::NFS4_OK) << "the slot of the record was used up";
  const auto again = run(op_create_session, args, other);
  ASSERT_EQ(again.status, Status::NFS4_OK) << "RFC 8881 18.36.4: phase 2 comes before phase 3";
  EXPECT_EQ(again.resok4.csr_sessionid, made.resok4.csr_sessionid);
  EXPECT_EQ(
      run(op_create_session, session_args(id.eir_clientid, id.eir_sequenceid + 1), other).status,
      Status::NFS4_OK)
      << "RFC 8881 18.35.3: SP4_NONE protects nothing";
}

TEST_F(V4ClientTest, UpdatesTellWhatDoesNotMatch) {
  Actor actor;
  EXPECT_EQ(run(op_exchange_id, exchange_args(actor, 1, kUpdate), actor).status,
            Status::NFS4ERR_NOENT);
  actor = mounted();
  EXPECT_EQ(run(op_exchange_id, exchange_args(actor, 1, kUpdate), actor).status, Status::NFS4_OK);
  EXPECT_EQ(run(op_exchange_id, exchange_args(actor, 2, kUpdate), actor).status,
            Status::NFS4ERR_NOT_SAME);
  actor.uid = 1000;
  EXPECT_EQ(run(op_exchange_id, exchange_args(actor, 1, kUpdate), actor).status,
            Status::NFS4ERR_PERM);
}

TEST_F(V4ClientTest, ARestartedServerIsTheSameAndAnotherIsNot) {
  Actor actor;
  const auto ask = [&](PseudoRoot& its_storage) {
    const Caller caller{0, 0, {}};
    const ConnectionInfo info{1, true, "192.0.2.1", actor.backchannel};
    const CallContext context{caller, info};
    CompoundCall call{context, its_storage, *state, reply, 1};
    nfs4::ExchangeIdResult result;
    op_exchange_id(exchange_args(actor), call, result);
    return std::pair(copy(result.resok4.eir_server_owner.so_major_id),
                     copy(result.resok4.eir_server_scope));
  };
  const auto first = ask(storage);
  start();
  EXPECT_EQ(ask(storage), first);
  MemoryBackend other(counting_clock(), seeded_random(9));
  PseudoRoot elsewhere(other, "export");
  EXPECT_NE(ask(elsewhere).first, first.first);
  EXPECT_NE(ask(elsewhere).second, first.second);
}

TEST_F(V4ClientTest, ReservedFlagsOfExchangeIdAreRefused) {
  Actor actor;
  EXPECT_EQ(run(op_exchange_id, exchange_args(actor, 1, kConfirmed), actor).status,
            Status::NFS4ERR_INVAL);
}

TEST_F(V4ClientTest, AClientIdWithASessionIsBusy) {
  Actor actor = mounted();
  EXPECT_EQ(run(op_destroy_clientid, {actor.clientid}, actor).status,
            Status::NFS4ERR_CLIENTID_BUSY);
  EXPECT_EQ(run(op_destroy_session, {actor.session}, actor).status, Status::NFS4_OK);
  EXPECT_EQ(run(op_destroy_clientid, {actor.clientid}, actor).status, Status::NFS4_OK);
  EXPECT_EQ(run(op_destroy_clientid, {actor.clientid}, actor).status,
            Status::NFS4ERR_STALE_CLIENTID);
}

TEST_F(V4ClientTest, UnconfirmedClientsTakeNoMoreThanTheirShare) {
  Actor actor = mounted();
  for (std::size_t i = 0; i < 2 * kMostUnconfirmedClients; ++i) {
    Actor hostile;
    hostile.owner = "hostile " + std::to_string(i);
    ASSERT_EQ(run(op_exchange_id, exchange_args(hostile), hostile).status, Status::NFS4_OK);
  }
  EXPECT_LE(state->tables().clients.size(), kMostUnconfirmedClients + 1);
  EXPECT_LE(state->tables().unconfirmed.size(), kMostUnconfirmedClients + 1);
  sequence(actor, 1);
}

TEST_F(V4ClientTest, OneHostTakesNoMoreThanItsShare) {
  const auto come = [&](const std::string& host, std::size_t number) {
    Actor actor;
    actor.owner = host + ' ' + std::to_string(number);
    actor.host = host;
    actor.connection = number;
    const auto id = run(op_exchange_id, exchange_args(actor), actor);
    if (id.status != Status::NFS4_OK) return id.status;
    auto args = session_args(id.resok4.eir_clientid, id.resok4.eir_sequenceid);
    args.csa_flags = 0;
    args.csa_fore_chan_attrs.ca_maxrequests = 1;
    return run(op_create_session, args, actor).status;
  };
  for (std::size_t i = 0; i < kMostClientsPerHost; ++i)
    ASSERT_EQ(come("192.0.2.66", i), Status::NFS4_OK) << i;
  EXPECT_EQ(come("192.0.2.66", kMostClientsPerHost), Status::NFS4ERR_DELAY);
  EXPECT_EQ(come("192.0.2.67", 0), Status::NFS4_OK) << "one host has shut the others out";
  pass(kLeaseTime + 1s);
  EXPECT_TRUE(state->tables().clients.empty());
  EXPECT_EQ(come("192.0.2.66", 0), Status::NFS4_OK);
}

TEST_F(V4ClientTest, AllAddressesOfOneNetworkAreOneHost) {
  const auto come = [&](const std::string& host) {
    Actor actor;
    actor.owner = host;
    actor.host = host;
    const auto id = run(op_exchange_id, exchange_args(actor), actor).resok4;
    return state->tables().find_client(id.eir_clientid)->host_usage;
  };
  const HostUsage* const first = come("[2001:db8:0:1::7]");
  EXPECT_EQ(come("[2001:db8:0:1:2:3:4:5]"), first) << "a host can use every address of its /64";
  EXPECT_NE(come("[2001:db8:0:2::7]"), first);
  const HostUsage* const four = come("192.0.2.7");
  EXPECT_EQ(come("[::ffff:192.0.2.7]"), four) << "an IPv4-mapped address is the one in it";
  EXPECT_NE(four, first) << "that one host has both cannot be known";
}

TEST_F(V4ClientTest, UnconfirmedRecordsOfOneHostPushOutNoOthers) {
  Actor actor;
  actor.owner = "patient";
  const auto exchanged = run(op_exchange_id, exchange_args(actor), actor).resok4;
  for (std::size_t i = 0; i < 2 * kMostUnconfirmedClients; ++i) {
    Actor hostile;
    hostile.owner = "hostile " + std::to_string(i);
    hostile.host = "192.0.2.66";
    ASSERT_EQ(run(op_exchange_id, exchange_args(hostile), hostile).status, Status::NFS4_OK);
  }
  EXPECT_EQ(run(op_create_session, session_args(exchanged.eir_clientid, 1), actor).status,
            Status::NFS4_OK)
      << "its record went to make room for another host's";
}

TEST_F(V4ClientTest, NothingIsLookedAtThatIsNotDue) {
  constexpr std::size_t kClients = 500;
  constexpr std::size_t kFewLooks = 10;
  std::vector<Actor> actors;
  for (std::size_t i = 0; i < kClients; ++i) {
    actors.push_back(mounted("client " + std::to_string(i), i + 1));
    const std::string name = "file " + std::to_string(i);
    make_file(name);
    open(actors.back(), name, nfs4::OPEN4_SHARE_ACCESS_BOTH);
  }
  pass(kLeaseTime / 2);
  sequence(actors.front(), 1);
  looks_at_clock = 0;
  pass(kExpiryPause);
  EXPECT_LE(looks_at_clock, kFewLooks) << "the leases of all clients were looked at";
  pass(kLeaseTime / 2);
  EXPECT_EQ(state->tables().clients.size(), 1U) << "only the first has renewed its lease";
  sequence(actors.front(), 2);
}

TEST_F(V4ClientTest, ASilentClientLosesEverythingAfterItsLease) {
  Actor actor = mounted();
  make_file("f");
  open(actor, "f", 3, nfs4::OPEN4_SHARE_DENY_BOTH);
  pass(kLeaseTime);
  sequence(actor, 1);
  pass(kLeaseTime);
  sequence(actor, 2);  // each SEQUENCE renews the lease
  pass(kLeaseTime + 1s);
  EXPECT_EQ(run(op_sequence, sequence_args(actor, 3), actor).status, Status::NFS4ERR_BADSESSION);
  EXPECT_EQ(state->tables().state_count, 0U);
  Actor other = mounted("other", 2);
  open(other, "f", 3);
}

TEST_F(V4ClientTest, ALeaseIsLengthenedAndNeverShortened) {
  Actor actor = mounted();
  state->lengthen_lease(kLeaseTime + 1500ms);
  state->lengthen_lease(1s);
  EXPECT_EQ(state->lease(), kLeaseTime + 2s);
  pass(kLeaseTime + 2s);
  sequence(actor, 1);
  pass(kLeaseTime + 3s);
  EXPECT_EQ(run(op_sequence, sequence_args(actor, 2), actor).status, Status::NFS4ERR_BADSESSION);
}

TEST_F(V4ClientTest, SetclientidOfTheSameInstanceKeepsItsIdAndState) {
  Actor actor = known();
  const Handle file = make_file("f");
  const auto opened = open(actor, "f", 3);
  nfs4::SetclientidArgs args;
  args.client.id = octets_of(actor.owner);
  const auto again = run(op_setclientid, args, actor);
  EXPECT_EQ(again.resok4.clientid, actor.clientid);
  EXPECT_EQ(
      run(op_setclientid_confirm, {actor.clientid, again.resok4.setclientid_confirm}, actor).status,
      Status::NFS4_OK);
  EXPECT_EQ(io(actor, opened.stateid, file, AccessMode::write), Status::NFS4_OK);
  args.client.verifier[0] = std::byte{7};
  const auto restarted = run(op_setclientid, args, actor);
  EXPECT_NE(restarted.resok4.clientid, actor.clientid);
  EXPECT_EQ(io(actor, opened.stateid, file, AccessMode::write), Status::NFS4_OK)
      << "the confirmation removes the state, not SETCLIENTID";
  EXPECT_EQ(run(op_setclientid_confirm,
                {restarted.resok4.clientid, restarted.resok4.setclientid_confirm}, actor)
                .status,
            Status::NFS4_OK);
  EXPECT_EQ(io(actor, opened.stateid, file, AccessMode::write), Status::NFS4ERR_EXPIRED);
  EXPECT_EQ(run(op_renew, {actor.clientid}, actor).status, Status::NFS4ERR_STALE_CLIENTID);
}

// RFC 7530 9.6.3.2: the use of a clientid whose lease was cancelled.
TEST_F(V4ClientTest, ACancelledLeaseIsExpiredAndAnUnknownClientStale) {
  Actor actor = known();
  const Handle file = make_file("f");
  const auto opened = open(actor, "f", 3);
  pass(kLeaseTime + std::chrono::seconds(1));
  EXPECT_EQ(run(op_renew, {actor.clientid}, actor).status, Status::NFS4ERR_EXPIRED);
  EXPECT_EQ(run(op_open, open_args(actor, "f", 3, 0, 3), actor, root()).status,
            Status::NFS4ERR_EXPIRED);
  EXPECT_EQ(io(actor, opened.stateid, file, AccessMode::write), Status::NFS4ERR_EXPIRED);
  EXPECT_EQ(run(op_renew, {actor.clientid + 1}, actor).status, Status::NFS4ERR_STALE_CLIENTID);
  start();
  EXPECT_EQ(run(op_renew, {actor.clientid}, actor).status, Status::NFS4ERR_STALE_CLIENTID)
      << "after a restart";
}

TEST_F(V4ClientTest, AConfirmFromAnotherPrincipalComesTooLateOnceThereIsState) {
  Actor owner = known("same name");
  make_file("f");
  Actor stranger = owner;
  stranger.uid = 4711;
  nfs4::SetclientidArgs args;
  args.client.id = octets_of(stranger.owner);
  args.client.verifier[0] = std::byte{9};
  const auto set = run(op_setclientid, args, stranger);
  ASSERT_EQ(set.status, Status::NFS4_OK);
  open(owner, "f", 3);
  EXPECT_EQ(
      run(op_setclientid_confirm, {set.resok4.clientid, set.resok4.setclientid_confirm}, stranger)
          .status,
      Status::NFS4ERR_CLID_INUSE);
  EXPECT_EQ(run(op_renew, {owner.clientid}, owner).status, Status::NFS4_OK);
}

TEST_F(V4ClientTest, AWrongConfirmVerifierConfirmsNothing) {
  Actor actor = known();
  EXPECT_EQ(run(op_setclientid_confirm, {actor.clientid, nfs4::Verifier{}}, actor).status,
            Status::NFS4ERR_STALE_CLIENTID);
  EXPECT_EQ(run(op_renew, {actor.clientid}, actor).status, Status::NFS4_OK);
}

}  // namespace
}  // namespace steertag::peer::testing
