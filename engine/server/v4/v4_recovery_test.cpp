// Restart of the NFSv4 server: the recovery file, grace and reclaims.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "nfs/v4/attribute_codec.h"
#include "server/testing/temporary_directory.h"
#include "server/testing/v4_state_fixture.h"

namespace steertag::peer::testing {
namespace {

class V4RecoveryTest : public V4StateTest {
 protected:
  V4RecoveryTest() : file(make_file("f")), path(directory.path() + "/clients") { start(path); }

  /// A client of the new run, which may still reclaim.
  Actor returning(const std::string& owner, std::uint64_t connection) {
    Actor actor;
    actor.owner = owner;
    actor.connection = connection;
    const auto id = run(op_exchange_id, exchange_args(actor), actor).resok4;
    actor.clientid = id.eir_clientid;
    actor.session =
        run(op_create_session, session_args(id.eir_clientid, 1), actor).resok4.csr_sessionid;
    return actor;
  }
  auto open_again(Actor& actor, std::uint32_t deny = 0) {
    auto args = open_args(actor, {}, 3, deny);
    args.claim.claim = nfs4::ClaimType::CLAIM_PREVIOUS;
    return run(op_open, args, actor, file);
  }
  Status reclaim(Actor& actor, std::uint32_t deny = 0) { return open_again(actor, deny).status; }
  /// A client that has had its file open before the restart, and has it again: the new stateid.
  nfs4::StateId restart_with_open_file(Actor& had) {
    Actor before = mounted("had");
    open(before, "f", 3);
    start(path);
    had = returning("had", 2);
    return open_again(had).resok4.stateid;
  }
  Status plain_open(Actor& actor) {
    return run(op_open, open_args(actor, "f", 3), actor, root()).status;
  }
  std::string recorded() {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  TemporaryDirectory directory;
  Handle file;
  std::string path;
};

TEST_F(V4RecoveryTest, AClientIsRecordedBeforeItsFirstOpenAndForgottenWithItsState) {
  Actor actor = mounted("ab");
  EXPECT_EQ(recorded(), "");
  open(actor, "f", 3);
  EXPECT_EQ(recorded(), "1 6162\n");
  pass(kLeaseTime + 1s);
  EXPECT_EQ(recorded(), "");
}

TEST_F(V4RecoveryTest, TheServerTakesWhateverOwnersItHasWritten) {
  // RFC 8881 18.35.1: co_ownerid may have no octets at all.
  Actor nameless = mounted("");
  Actor binary = mounted(std::string("\0\n\xff", 3), 2);
  open(nameless, "f", 3);
  open(binary, "f", 3);
  std::istringstream lines(recorded());
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(Recovery::is_line(line)) << line;
  start(path);
  Actor again = returning("", 3);
  EXPECT_EQ(reclaim(again), Status::NFS4_OK);
}

TEST_F(V4RecoveryTest, NothingIsGrantedThatARestartWouldLose) {
  Actor actor = mounted();
  std::filesystem::create_directory(path + ".new");  // where the file would be written
  EXPECT_EQ(plain_open(actor), Status::NFS4ERR_SERVERFAULT);
  EXPECT_EQ(state->tables().state_count, 0U);
}

TEST_F(V4RecoveryTest, WithoutStateThereIsNoGrace) {
  start(path);
  EXPECT_FALSE(state->in_grace());
  Actor actor = returning("client", 1);
  EXPECT_EQ(reclaim(actor), Status::NFS4ERR_NO_GRACE);
  EXPECT_EQ(plain_open(actor), Status::NFS4ERR_GRACE)
      << "RFC 8881 18.51.3: RECLAIM_COMPLETE comes first";
  run(op_reclaim_complete, {}, actor);
  EXPECT_EQ(plain_open(actor), Status::NFS4_OK);
}

TEST_F(V4RecoveryTest, GraceIsForThoseWhoHadState) {
  Actor actor = mounted("had");
  open(actor, "f", 3);
  start(path);
  ASSERT_TRUE(state->in_grace());
  Actor had = returning("had", 2);
  Actor fresh = returning("fresh", 3);
  constexpr std::uint32_t kNeeded = nfs4::SEQ4_STATUS_RESTART_RECLAIM_NEEDED;
  EXPECT_EQ(sequence(had, 1).sr_status_flags & kNeeded, kNeeded) << "RFC 8881 18.46.3";
  EXPECT_EQ(sequence(fresh, 1).sr_status_flags & kNeeded, 0U);
  EXPECT_EQ(plain_open(had), Status::NFS4ERR_GRACE);
  EXPECT_EQ(io(had, {}, file, AccessMode::write), Status::NFS4ERR_GRACE);
  EXPECT_EQ(reclaim(fresh), Status::NFS4ERR_RECLAIM_BAD);
  EXPECT_EQ(reclaim(had, nfs4::OPEN4_SHARE_DENY_BOTH), Status::NFS4_OK);
  run(op_reclaim_complete, {}, fresh);
  EXPECT_TRUE(state->in_grace()) << "it had nothing to reclaim: its word ends nothing";
  run(op_reclaim_complete, {}, had);
  EXPECT_FALSE(state->in_grace()) << "all that were recorded have said that they are done";
  EXPECT_EQ(sequence(had, 2).sr_status_flags & kNeeded, 0U);
  EXPECT_EQ(reclaim(had), Status::NFS4ERR_NO_GRACE);
  EXPECT_EQ(plain_open(fresh), Status::NFS4ERR_SHARE_DENIED);
}

TEST_F(V4RecoveryTest, AReclaimOfMinorVersion0NeedsNoConfirmation) {
  Actor actor = known();
  open(actor, "f", 3);
  start(path);
  actor = known();
  const auto reclaimed = open_again(actor);
  ASSERT_EQ(reclaimed.status, Status::NFS4_OK);
  EXPECT_EQ(reclaimed.resok4.rflags & nfs4::OPEN4_RESULT_CONFIRM, 0U);
  EXPECT_EQ(io(actor, reclaimed.resok4.stateid, file, AccessMode::write), Status::NFS4_OK);
}

TEST_F(V4RecoveryTest, LocksAreReclaimedInGraceOnly) {
  Actor had;
  const auto opened = restart_with_open_file(had);
  auto lock = lock_args(had, opened, 0, 10, true);
  EXPECT_EQ(run(op_lock, lock, had, file).status, Status::NFS4ERR_GRACE);
  lock.reclaim = true;
  EXPECT_EQ(run(op_lock, lock, had, file).status, Status::NFS4_OK);
  run(op_reclaim_complete, {}, had);
  EXPECT_EQ(run(op_lock, lock, had, file).status, Status::NFS4ERR_NO_GRACE);
}

TEST_F(V4RecoveryTest, ALockWaitsForReclaimCompleteAsAnOpenDoes) {
  Actor had;
  const auto opened = restart_with_open_file(had);
  pass(kLeaseTime - 1s);
  sequence(had, 1);
  pass(2s);
  ASSERT_FALSE(state->in_grace());
  const auto lock = lock_args(had, opened, 0, 10, true);
  EXPECT_EQ(run(op_lock, lock, had, file).status, Status::NFS4ERR_GRACE) << "RFC 8881 18.51.3";
  run(op_reclaim_complete, {}, had);
  EXPECT_EQ(run(op_lock, lock, had, file).status, Status::NFS4_OK);
}

/// SETATTR of the mode.
nfs4::SetattrArgs mode_args(const nfs4::Fattr& attributes) {
  return {{}, attributes};
}

TEST_F(V4RecoveryTest, NothingIsTakenFromThoseWhoMayReclaim) {
  Actor actor = mounted("had");
  open(actor, "f", 3);
  make_file("other");
  start(path);
  Actor had = returning("had", 2);
  Actor old = known();
  Actor fresh = returning("fresh", 3);
  run(op_reclaim_complete, {}, fresh);
  nfs4::Attributes wanted;
  wanted.mode = 0600;
  Bytes octets;
  const nfs4::Fattr mode = nfs4::fattr_of(wanted, nfs4::present(wanted), octets);
  for (Actor* each : {&fresh, &old}) {
    const auto version = ::testing::Message() << "minor version " << each->minorversion;
    EXPECT_EQ(run(op_remove, {"f"}, *each, root()).status, Status::NFS4ERR_GRACE) << version;
    EXPECT_EQ(rename("f", "moved", *each), Status::NFS4ERR_GRACE) << version;
    EXPECT_EQ(rename("other", "f", *each), Status::NFS4ERR_GRACE) << version;
    EXPECT_EQ(run(op_setattr, mode_args(mode), *each, file).status, Status::NFS4ERR_GRACE)
        << version << ": the mode decides who may open";
  }
  EXPECT_EQ(link(file, "link", fresh), Status::NFS4ERR_GRACE);
  EXPECT_EQ(link(file, "link", old), Status::NFS4ERR_DELAY)
      << "RFC 7530 13.2: LINK has no NFS4ERR_GRACE";
  EXPECT_EQ(reclaim(had), Status::NFS4_OK) << "somebody has taken the file away";
  run(op_reclaim_complete, {}, had);
  ASSERT_FALSE(state->in_grace());
  EXPECT_EQ(run(op_setattr, mode_args(mode), fresh, file).status, Status::NFS4_OK);
  EXPECT_EQ(link(file, "link", fresh), Status::NFS4_OK);
  EXPECT_EQ(rename("f", "moved", fresh), Status::NFS4_OK);
  EXPECT_EQ(run(op_remove, {"moved"}, fresh, root()).status, Status::NFS4_OK);
}

TEST_F(V4RecoveryTest, ObjectsWithoutOpensDoNotWait) {
  Actor actor = mounted("had");
  open(actor, "f", 3);
  start(path);
  Actor fresh = returning("fresh", 3);
  NewNode node;
  node.type = FileType::directory;
  ASSERT_TRUE(storage.create(storage.export_root(), "directory", node));
  ASSERT_TRUE(state->in_grace());
  EXPECT_EQ(rename("directory", "moved", fresh), Status::NFS4_OK);
  EXPECT_EQ(run(op_remove, {"moved"}, fresh, root()).status, Status::NFS4_OK);
}

TEST_F(V4RecoveryTest, GraceEndsByItself) {
  Actor actor = mounted("gone");
  open(actor, "f", 3);
  start(path);
  pass(kLeaseTime - 1s);
  EXPECT_TRUE(state->in_grace());
  pass(1s);
  EXPECT_FALSE(state->in_grace());
  EXPECT_EQ(recorded(), "") << "RFC 8881 8.4.3: who missed the period cannot use the next one";
}

TEST_F(V4RecoveryTest, ARestartWithinGraceKeepsAllClients) {
  Actor one = mounted("one", 1);
  Actor two = mounted("two", 2);
  open(one, "f", 3);
  open(two, "f", 3);
  start(path);
  Actor again = returning("one", 3);
  EXPECT_EQ(reclaim(again), Status::NFS4_OK);
  start(path);
  Actor late = returning("two", 4);
  EXPECT_EQ(reclaim(late), Status::NFS4_OK);
}

}  // namespace
}  // namespace steertag::peer::testing
