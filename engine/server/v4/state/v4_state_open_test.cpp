// Opens of NFSv4: share reservations, creation, stateids, limits.
#include "nfs/v4/attribute_numbers.h"
#include "server/testing/v4_state_fixture.h"
#include "server/v4/file_operations.h"

namespace steertag::peer::testing {
namespace {

using V4OpenTest = V4StateTest;

constexpr std::uint32_t kRead = nfs4::OPEN4_SHARE_ACCESS_READ;
constexpr std::uint32_t kWrite = nfs4::OPEN4_SHARE_ACCESS_WRITE;
constexpr std::uint32_t kBoth = nfs4::OPEN4_SHARE_ACCESS_BOTH;
constexpr std::uint32_t kReadUndelegated = kRead | nfs4::OPEN4_SHARE_ACCESS_WANT_NO_DELEG;

nfs4::OpenArgs creating(nfs4::OpenArgs args, nfs4::CreateMode mode, std::uint8_t verifier = 1) {
  args.openhow.opentype = nfs4::OpenType::OPEN4_CREATE;
  args.openhow.how.mode = mode;
  args.openhow.how.createverf[0] = std::byte{verifier};
  args.openhow.how.ch_createboth.cva_verf[0] = std::byte{verifier};
  return args;
}

TEST_F(V4OpenTest, IoNeedsAnOpenOfThisFileAndDirection) {
  Actor actor = mounted();
  const Handle file = make_file("f");
  const Handle other = make_file("g");
  const auto opened = open(actor, "f", kRead);
  EXPECT_EQ(opened.stateid.seqid, 1U);
  EXPECT_EQ(left->stateid, opened.stateid) << "OPEN sets the current stateid";
  EXPECT_EQ(io(actor, opened.stateid, file, AccessMode::read), Status::NFS4_OK);
  EXPECT_EQ(io(actor, opened.stateid, file, AccessMode::write), Status::NFS4ERR_OPENMODE);
  EXPECT_EQ(io(actor, opened.stateid, other, AccessMode::read), Status::NFS4ERR_BAD_STATEID);
  Actor stranger = mounted("stranger", 2);
  EXPECT_EQ(io(stranger, opened.stateid, file, AccessMode::read), Status::NFS4ERR_BAD_STATEID)
      << "a stateid is of use to its client only";
}

TEST_F(V4OpenTest, AnUpgradeMovesTheSeqidOfOneStateid) {
  Actor actor = mounted();
  const Handle file = make_file("f");
  const auto first = open(actor, "f", kRead);
  const auto second = open(actor, "f", kWrite);
  EXPECT_EQ(first.stateid.other, second.stateid.other);
  EXPECT_EQ(second.stateid.seqid, 2U);
  EXPECT_EQ(io(actor, first.stateid, file, AccessMode::write), Status::NFS4ERR_OLD_STATEID);
  nfs4::StateId future = second.stateid;
  future.seqid = 3;
  EXPECT_EQ(io(actor, future, file, AccessMode::write), Status::NFS4ERR_BAD_STATEID);
  nfs4::StateId present = second.stateid;
  present.seqid = 0;
  EXPECT_EQ(io(actor, present, file, AccessMode::write), Status::NFS4_OK) << "RFC 8881 8.2.2";
}

TEST_F(V4OpenTest, DowngradesGoBackToWhatWasOpened) {
  Actor actor = mounted();
  const Handle file = make_file("f");
  open(actor, "f", kBoth);
  const auto opened = open(actor, "f", kRead);
  const auto downgrade = [&](std::uint32_t access) {
    return run(op_open_downgrade, {opened.stateid, 0, access, 0}, actor, file);
  };
  EXPECT_EQ(downgrade(kWrite).status, Status::NFS4ERR_INVAL) << "no OPEN was for writing alone";
  EXPECT_EQ(downgrade(0).status, Status::NFS4ERR_INVAL);
  const auto done = downgrade(kRead);
  ASSERT_EQ(done.status, Status::NFS4_OK);
  EXPECT_EQ(io(actor, done.resok4.open_stateid, file, AccessMode::write), Status::NFS4ERR_OPENMODE);
}

TEST_F(V4OpenTest, ShareReservationsHoldAgainstOthers) {
  Actor actor = mounted();
  Actor other = mounted("other", 2);
  const Handle file = make_file("f");
  const auto opened = open(actor, "f", kReadUndelegated, nfs4::OPEN4_SHARE_DENY_WRITE);
  EXPECT_EQ(run(op_open, open_args(other, "f", kWrite), other, root()).status,
            Status::NFS4ERR_SHARE_DENIED);
  EXPECT_EQ(
      run(op_open, open_args(other, "f", kRead, nfs4::OPEN4_SHARE_DENY_READ), other, root()).status,
      Status::NFS4ERR_SHARE_DENIED);
  EXPECT_EQ(io(other, {}, file, AccessMode::write), Status::NFS4ERR_LOCKED)
      << "the anonymous stateid is bound by share reservations";
  EXPECT_EQ(io(other, {}, file, AccessMode::read), Status::NFS4_OK);
  EXPECT_EQ(close(actor, opened.stateid, file), Status::NFS4_OK);
  open(other, "f", kWrite);
}

TEST_F(V4OpenTest, AClosedStateidIsOfNoUse) {
  Actor actor = mounted();
  const Handle file = make_file("f");
  const auto opened = open(actor, "f", kReadUndelegated);
  const auto closed = run(op_close, {0, opened.stateid}, actor, file);
  EXPECT_EQ(closed.resok4.open_stateid, (nfs4::StateId{0xffffffff, {}})) << "RFC 8881 8.2.3";
  EXPECT_EQ(left->stateid, closed.resok4.open_stateid) << "RFC 8881 16.2.3.1.2";
  EXPECT_EQ(io(actor, opened.stateid, file, AccessMode::read), Status::NFS4ERR_BAD_STATEID);
  EXPECT_EQ(close(actor, opened.stateid, file), Status::NFS4ERR_BAD_STATEID);
  EXPECT_EQ(state->tables().state_count, 0U);
  EXPECT_TRUE(state->tables().files.empty());
  EXPECT_TRUE(state->tables().find_client(actor.clientid)->open_owners.empty());
}

TEST_F(V4OpenTest, SpecialStateidsAreTheTwoOfTheRfcOnly) {
  Actor actor = mounted();
  const Handle file = make_file("f");
  nfs4::StateId bypass{0xffffffff, {}};
  bypass.other.fill(std::byte{0xff});
  EXPECT_EQ(io(actor, bypass, file, AccessMode::read), Status::NFS4_OK);
  EXPECT_EQ(io(actor, {7, {}}, file, AccessMode::read), Status::NFS4ERR_BAD_STATEID);
  bypass.seqid = 0;
  EXPECT_EQ(io(actor, bypass, file, AccessMode::read), Status::NFS4ERR_BAD_STATEID);
}

TEST_F(V4OpenTest, CreationModesDifferForAFileThatIsThere) {
  using nfs4::CreateMode;
  Actor actor = mounted();
  const auto attempt = [&](std::string_view name, CreateMode mode, std::uint8_t verifier = 1) {
    return run(op_open, creating(open_args(actor, name, kBoth), mode, verifier), actor, root());
  };
  const auto made = attempt("u", CreateMode::UNCHECKED4);
  ASSERT_EQ(made.status, Status::NFS4_OK);
  EXPECT_TRUE(made.resok4.cinfo.atomic);
  EXPECT_NE(made.resok4.cinfo.before, made.resok4.cinfo.after);
  EXPECT_EQ(attempt("u", CreateMode::UNCHECKED4).status, Status::NFS4_OK);
  EXPECT_EQ(attempt("u", CreateMode::GUARDED4).status, Status::NFS4ERR_EXIST);
  for (const CreateMode mode : {CreateMode::EXCLUSIVE4, CreateMode::EXCLUSIVE4_1}) {
    const std::string name = mode == CreateMode::EXCLUSIVE4 ? "x" : "y";
    const auto first = attempt(name, mode);
    ASSERT_EQ(first.status, Status::NFS4_OK);
    EXPECT_TRUE(first.resok4.attrset.test(nfs4::FATTR4_TIME_ACCESS))
        << "the client must know which attributes hold the verifier";
    EXPECT_EQ(attempt(name, mode).status, Status::NFS4_OK) << "the same verifier is a retry";
    EXPECT_EQ(attempt(name, mode, 2).status, Status::NFS4ERR_EXIST);
  }
}

TEST_F(V4OpenTest, AFailedOpenChangesNothing) {
  Actor actor = mounted();
  EXPECT_EQ(run(op_open, open_args(actor, "absent", kRead), actor, root()).status,
            Status::NFS4ERR_NOENT);
  EXPECT_EQ(run(op_open, open_args(actor, "", kRead), actor, root()).status, Status::NFS4ERR_INVAL);
  auto args = creating(open_args(actor, "new", 0), nfs4::CreateMode::UNCHECKED4);
  EXPECT_EQ(run(op_open, args, actor, root()).status, Status::NFS4ERR_INVAL);
  args = creating(open_args(actor, "new", kRead, 4), nfs4::CreateMode::UNCHECKED4);
  EXPECT_EQ(run(op_open, args, actor, root()).status, Status::NFS4ERR_INVAL);
  EXPECT_FALSE(storage.lookup(storage.export_root(), "new")) << "bad shares, yet a file was made";
  EXPECT_EQ(run(op_open, open_args(actor, "f", kRead), actor).status, Status::NFS4ERR_NOFILEHANDLE);
  EXPECT_EQ(state->tables().state_count, 0U);
  EXPECT_TRUE(state->tables().find_client(actor.clientid)->open_owners.empty());
}

TEST_F(V4OpenTest, OnlyRegularFilesAreOpened) {
  Actor actor = mounted();
  NewNode node;
  node.type = FileType::directory;
  ASSERT_TRUE(storage.create(storage.export_root(), "d", node));
  node.type = FileType::link;
  node.link_text = "f";
  ASSERT_TRUE(storage.create(storage.export_root(), "l", node));
  node = {};
  node.type = FileType::fifo;
  ASSERT_TRUE(storage.create(storage.export_root(), "p", node));
  const auto status = [&](std::string_view name) {
    return run(op_open, open_args(actor, name, kRead), actor, root()).status;
  };
  EXPECT_EQ(status("d"), Status::NFS4ERR_ISDIR);
  EXPECT_EQ(status("l"), Status::NFS4ERR_SYMLINK);
  EXPECT_EQ(status("p"), Status::NFS4ERR_WRONG_TYPE);
}

// RFC 7530 16.16.5.
TEST_F(V4OpenTest, SpecialFilesAreSymlinksToAnOpenOfMinorVersionZero) {
  Actor actor = known();
  for (const FileType type :
       {FileType::socket, FileType::fifo, FileType::block, FileType::character}) {
    NewNode node;
    node.type = type;
    const std::string name = "special " + std::to_string(static_cast<int>(type));
    ASSERT_TRUE(storage.create(storage.export_root(), name, node));
    EXPECT_EQ(run(op_open, open_args(actor, name, kRead), actor, root()).status,
              Status::NFS4ERR_SYMLINK)
        << name;
  }
}

TEST_F(V4OpenTest, ModeBitsDecideWhoOpens) {
  Actor actor = mounted();
  actor.uid = 1000;
  make_file("secret", 0600);
  make_file("public", 0644);
  EXPECT_EQ(run(op_open, open_args(actor, "secret", kRead), actor, root()).status,
            Status::NFS4ERR_ACCESS);
  EXPECT_EQ(run(op_open, open_args(actor, "public", kWrite), actor, root()).status,
            Status::NFS4ERR_ACCESS);
  open(actor, "public", kRead);
}

TEST_F(V4OpenTest, ClaimFhOpensTheCurrentFile) {
  Actor actor = mounted();
  const Handle file = make_file("f");
  auto args = open_args(actor, {}, kBoth);
  args.claim.claim = nfs4::ClaimType::CLAIM_FH;
  const auto opened = run(op_open, args, actor, file);
  ASSERT_EQ(opened.status, Status::NFS4_OK);
  EXPECT_EQ(io(actor, opened.resok4.stateid, file, AccessMode::write), Status::NFS4_OK);
  args.claim.claim = nfs4::ClaimType::CLAIM_DELEGATE_PREV;
  EXPECT_EQ(run(op_open, args, actor, file).status, Status::NFS4ERR_NOTSUPP);
}

TEST_F(V4OpenTest, ClaimFhIsBoundToTheModeEvenForTheOwner) {
  Actor actor = mounted();
  actor.uid = 1000;
  NewNode node;
  node.uid = actor.uid;
  node.change.mode = 0444;
  const Handle file = storage.handle(*storage.create(storage.export_root(), "read-only", node));
  auto args = open_args(actor, {}, kWrite);
  args.claim.claim = nfs4::ClaimType::CLAIM_FH;
  EXPECT_EQ(run(op_open, args, actor, file).status, Status::NFS4ERR_ACCESS);
  args.share_access = kRead;
  EXPECT_EQ(run(op_open, args, actor, file).status, Status::NFS4_OK);
}

TEST_F(V4OpenTest, StateOfAFileThatIsGoneIsNotKept) {
  Actor actor = mounted();
  Actor remover = mounted("remover", 2);
  const auto is_empty = [&] {
    const StateTables& tables = state->tables();
    const Client& client = *state->tables().find_client(actor.clientid);
    return tables.files.empty() && tables.state_count == 0 && client.open_owners.empty() &&
           client.lock_owners.empty() && client.range_count == 0;
  };
  const auto hold = [&](std::string_view name) {
    const Handle file = make_file(name);
    const auto opened = open(actor, name, kBoth).stateid;
    EXPECT_EQ(run(op_lock, lock_args(actor, opened, 0, 10, true), actor, file).status,
              Status::NFS4_OK);
    EXPECT_FALSE(is_empty());
    return file;
  };
  hold("removed");
  EXPECT_EQ(run(op_remove, {"removed"}, remover, root()).status, Status::NFS4_OK);
  EXPECT_TRUE(is_empty());

  // A removal on the host gives no notice; CLOSE comes with the file's filehandle.
  const Handle gone = hold("gone");
  ASSERT_EQ(storage.remove(storage.export_root(), "gone"), peer::Status::ok);
  EXPECT_EQ(run(op_putfh, {nfs4::FileHandle(View(gone))}, actor).status, Status::NFS4ERR_STALE);
  EXPECT_TRUE(is_empty());

  // One that has another name is not gone.
  const Handle kept = hold("kept");
  ASSERT_EQ(storage.link(*storage.resolve(kept), storage.export_root(), "link"), peer::Status::ok);
  EXPECT_EQ(run(op_remove, {"kept"}, remover, root()).status, Status::NFS4_OK);
  EXPECT_FALSE(is_empty());
}

TEST_F(V4OpenTest, AFileWhoseOpenDeniesWritingIsNotRemoved) {
  Actor actor = mounted();
  Actor remover = mounted("remover", 2);
  Actor old_remover = known();
  const Handle file = make_file("f");
  make_file("other");
  for (const std::uint32_t deny : {nfs4::OPEN4_SHARE_DENY_WRITE, nfs4::OPEN4_SHARE_DENY_BOTH}) {
    const auto opened = open(actor, "f", kReadUndelegated, deny);
    for (Actor* each : {&remover, &old_remover}) {
      EXPECT_EQ(run(op_remove, {"f"}, *each, root()).status, Status::NFS4ERR_FILE_OPEN)
          << "REMOVE, RFC 8881 18.25.4, RFC 7530 16.26.5: deny " << deny << ", minor version "
          << each->minorversion;
      EXPECT_EQ(rename("other", "f", *each), Status::NFS4ERR_FILE_OPEN)
          << "RENAME over it: deny " << deny << ", minor version " << each->minorversion;
    }
    EXPECT_EQ(close(actor, opened.stateid, file), Status::NFS4_OK);
  }
  EXPECT_TRUE(storage.lookup(storage.export_root(), "f").has_value());
  EXPECT_TRUE(storage.lookup(storage.export_root(), "other").has_value());
  open(actor, "f", kReadUndelegated, nfs4::OPEN4_SHARE_DENY_READ);
  EXPECT_EQ(rename("other", "f", remover), Status::NFS4_OK) << "writing is not denied";
}

TEST_F(V4OpenTest, AFileWhoseOpenDeniesWritingIsMoved) {
  Actor actor = mounted();
  Actor other = mounted("other", 2);
  const Handle file = make_file("f");
  const auto opened = open(actor, "f", kReadUndelegated, nfs4::OPEN4_SHARE_DENY_WRITE);
  // What clients do instead of REMOVE while a file is open, RFC 8881 18.25.4.
  EXPECT_EQ(rename("f", ".hidden", actor), Status::NFS4_OK);
  EXPECT_EQ(rename(".hidden", "moved", other), Status::NFS4_OK) << "nothing is taken away";
  EXPECT_EQ(close(actor, opened.stateid, file), Status::NFS4_OK);
  EXPECT_EQ(run(op_remove, {"moved"}, actor, root()).status, Status::NFS4_OK);
}

TEST_F(V4OpenTest, RenameOntoAnotherNameOfTheSameOpenFile) {
  Actor actor = mounted();
  Actor old_actor = known();
  const Handle file = make_file("f");
  ASSERT_EQ(storage.link(*storage.resolve(file), storage.export_root(), "link"), peer::Status::ok);
  open(actor, "f", kReadUndelegated, nfs4::OPEN4_SHARE_DENY_WRITE);
  EXPECT_EQ(rename("f", "link", actor), Status::NFS4ERR_FILE_OPEN) << "RFC 8881 18.26.4";
  EXPECT_EQ(rename("f", "link", old_actor), Status::NFS4_OK) << "RFC 7530 16.27.4: no action";
  EXPECT_TRUE(storage.lookup(storage.export_root(), "f").has_value());
}

TEST_F(V4OpenTest, ARefusedRemovalRecallsNoDelegation) {
  Actor holder = mounted("holder", 1);
  Actor denier = mounted("denier", 2);
  Actor remover = mounted("remover", 3);
  make_file("f");
  ASSERT_EQ(open(holder, "f", kRead).delegation.delegation_type,
            nfs4::DelegationType::OPEN_DELEGATE_READ);
  open(denier, "f", kReadUndelegated, nfs4::OPEN4_SHARE_DENY_WRITE);
  EXPECT_EQ(run(op_remove, {"f"}, remover, root()).status, Status::NFS4ERR_FILE_OPEN);
  EXPECT_TRUE(holder.backchannel->calls.empty()) << "RFC 8881 18.26.4: with no recall being done";
}

TEST_F(V4OpenTest, AThousandFilesAreOpenAtATime) {
  Actor actor = mounted();
  std::vector<std::pair<Handle, nfs4::StateId>> opened;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "file " + std::to_string(i);
    const Handle file = make_file(name);
    opened.emplace_back(file, open(actor, name, kBoth).stateid);
  }
  for (const auto& [file, stateid] : opened)
    ASSERT_EQ(io(actor, stateid, file, AccessMode::write), Status::NFS4_OK);
  for (const auto& [file, stateid] : opened)
    ASSERT_EQ(close(actor, stateid, file), Status::NFS4_OK);
  EXPECT_TRUE(state->tables().files.empty());
}

TEST_F(V4OpenTest, OpensOfOneClientHaveALimit) {
  Actor actor = mounted();
  Actor old = known();
  make_file("f");
  const auto fill = [&](Actor& who) {
    Status last = Status::NFS4_OK;
    std::size_t count = 0;
    for (; last == Status::NFS4_OK && count < 2 * kMostOpensPerClient; ++count) {
      auto args = open_args(who, "f", kWrite);
      const std::string owner = std::to_string(count);
      args.owner.owner = octets_of(owner);
      last = run(op_open, args, who, root()).status;
    }
    EXPECT_EQ(count, kMostOpensPerClient + 1);
    return last;
  };
  EXPECT_EQ(fill(actor), Status::NFS4ERR_NOSPC);
  EXPECT_EQ(fill(old), Status::NFS4ERR_RESOURCE);
}

TEST_F(V4OpenTest, AnExclusiveOpenIsRepeatedByItsCreatorOnly) {
  const auto exclusive = [&](Actor& actor) {
    auto args = open_args(actor, "lock", kBoth, nfs4::OPEN4_SHARE_DENY_NONE);
    args.openhow.opentype = nfs4::OpenType::OPEN4_CREATE;
    args.openhow.how.mode = nfs4::CreateMode::EXCLUSIVE4;
    args.openhow.how.createverf.fill(std::byte{5});
    return run(op_open, args, actor, root()).status;
  };
  Actor creator = mounted("creator", 1);
  Actor stranger = mounted("stranger", 2);
  stranger.uid = 4711;
  ASSERT_EQ(exclusive(creator), Status::NFS4_OK);
  EXPECT_EQ(exclusive(creator), Status::NFS4_OK);
  EXPECT_EQ(exclusive(stranger), Status::NFS4ERR_ACCESS)
      << "the times of the file tell everybody the verifier";
}

TEST_F(V4OpenTest, TheClientsOfOneHostLeaveStateidsToOthers) {
  Actor actor = mounted();
  make_file("f");
  HostUsage& usage = *state->tables().find_client(actor.clientid)->host_usage;
  const auto opened = open(actor, "f", kRead);
  ASSERT_EQ(opened.delegation.delegation_type, nfs4::DelegationType::OPEN_DELEGATE_READ);
  const auto locked = run(op_lock, lock_args(actor, opened.stateid, 0, 1, false), actor,
                          storage.handle(*storage.lookup(storage.export_root(), "f")));
  ASSERT_EQ(locked.status, Status::NFS4_OK);
  EXPECT_EQ(usage.states, 3U) << "an open, a delegation and a lock";
  const std::size_t others = kMostStatesPerHost - usage.states;
  usage.states += others;  // as if other clients of the host had them
  auto args = open_args(actor, "f", kRead);
  args.owner.owner = octets_of("another");
  EXPECT_EQ(run(op_open, args, actor, root()).status, Status::NFS4ERR_NOSPC);
  Actor elsewhere = mounted("elsewhere", 2, "192.0.2.67");
  EXPECT_EQ(run(op_open, open_args(elsewhere, "f", kRead), elsewhere, root()).status,
            Status::NFS4_OK);
  usage.states -= others;
  EXPECT_EQ(run(op_open, args, actor, root()).status, Status::NFS4_OK);
  pass(kLeaseTime + 1s);
  EXPECT_EQ(state->tables().state_count, 0U);
}

TEST_F(V4OpenTest, StateidsOfAnEarlierRunAreTold) {
  Actor actor = known();
  const Handle file = make_file("f");
  const auto opened = open(actor, "f", kBoth);
  start();
  EXPECT_EQ(io(actor, opened.stateid, file, AccessMode::read), Status::NFS4ERR_STALE_STATEID);
  EXPECT_EQ(run(op_renew, {actor.clientid}, actor).status, Status::NFS4ERR_STALE_CLIENTID);
  Actor modern = mounted();
  EXPECT_EQ(io(modern, opened.stateid, file, AccessMode::read), Status::NFS4ERR_BAD_STATEID)
      << "minor version 1 has no NFS4ERR_STALE_STATEID";
}

TEST_F(V4OpenTest, StateidsAreTestedAndFreed) {
  Actor actor = mounted();
  const Handle file = make_file("f");
  const auto opened = open(actor, "f", kBoth);
  nfs4::TestStateidArgs args;
  args.ts_stateids = {opened.stateid, {}, {1, {}}};
  const auto tested = run(op_test_stateid, args, actor).resok4.tsr_status_codes;
  EXPECT_EQ(tested, (std::vector{Status::NFS4_OK, Status::NFS4ERR_BAD_STATEID,
                                 Status::NFS4ERR_BAD_STATEID}));
  EXPECT_EQ(run(op_free_stateid, {opened.stateid}, actor).status, Status::NFS4ERR_LOCKS_HELD);
  const auto locked =
      run(op_lock, lock_args(actor, opened.stateid, 0, 5, true), actor, file).resok4;
  EXPECT_EQ(run(op_free_stateid, {locked.lock_stateid}, actor).status, Status::NFS4ERR_LOCKS_HELD);
  const auto unlocked =
      run(op_locku, {nfs4::LockType::WRITE_LT, 0, locked.lock_stateid, 0, 5}, actor, file).resok4;
  EXPECT_EQ(run(op_free_stateid, {unlocked.lock_stateid}, actor).status, Status::NFS4_OK);
  EXPECT_EQ(run(op_free_stateid, {unlocked.lock_stateid}, actor).status,
            Status::NFS4ERR_BAD_STATEID);
}

}  // namespace
}  // namespace steertag::peer::testing
