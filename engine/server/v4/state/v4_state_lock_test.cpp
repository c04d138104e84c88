// Byte-range locks of NFSv4.
#include "server/testing/v4_state_fixture.h"
#include "server/v4/state/byte_ranges.h"

namespace steertag::peer::testing {
namespace {

constexpr std::uint64_t kEnd = ~std::uint64_t{0};

class V4LockTest : public V4StateTest {
 protected:
  V4LockTest() : file(make_file("f")) {}

  nfs4::LockResult lock(Actor& actor, const nfs4::StateId& open, std::uint64_t offset,
                        std::uint64_t length, bool write, std::string_view owner = "locker") {
    return run(op_lock, lock_args(actor, open, offset, length, write, owner), actor, file);
  }
  /// What is locked, in order.
  std::vector<std::array<std::uint64_t, 3>> ranges() {
    std::vector<std::array<std::uint64_t, 3>> found;
    const File* known = state->tables().find_file(file);
    if (!known) return found;
    for (const LockRange& each : known->ranges)
      found.push_back({each.first, each.last, each.write ? 1U : 0U});
    std::ranges::sort(found);
    return found;
  }
  using Ranges = std::vector<std::array<std::uint64_t, 3>>;
  Status io_of(Actor& actor, const nfs4::StateId& stateid, AccessMode want, ByteRange range) {
    return state->check_io(actor.minorversion, actor.clientid, stateid, file, want, range);
  }

  Handle file;
};

TEST_F(V4LockTest, AConflictNamesTheLockInTheWay) {
  Actor actor = mounted();
  Actor other = mounted("other", 2);
  const auto mine = open(actor, "f", 3).stateid;
  const auto theirs = open(other, "f", 3).stateid;
  ASSERT_EQ(lock(actor, mine, 10, 10, true).status, Status::NFS4_OK);
  const auto denied = lock(other, theirs, 19, kEnd, false);
  ASSERT_EQ(denied.status, Status::NFS4ERR_DENIED);
  EXPECT_EQ(denied.denied.offset, 10U);
  EXPECT_EQ(denied.denied.length, 10U);
  EXPECT_EQ(denied.denied.locktype, nfs4::LockType::WRITE_LT);
  EXPECT_EQ(text_of(denied.denied.owner.owner), "locker");
  EXPECT_EQ(denied.denied.owner.clientid, actor.clientid);
  EXPECT_EQ(lock(other, theirs, 20, kEnd, true).status, Status::NFS4_OK);
  EXPECT_EQ(lock(other, theirs, 0, 10, true).status, Status::NFS4_OK);
}

TEST_F(V4LockTest, ReadersShareAndAnOwnerIsNotInItsOwnWay) {
  Actor actor = mounted();
  const auto opened = open(actor, "f", 3).stateid;
  EXPECT_EQ(lock(actor, opened, 0, 10, false, "a").status, Status::NFS4_OK);
  EXPECT_EQ(lock(actor, opened, 0, 10, false, "b").status, Status::NFS4_OK);
  EXPECT_EQ(lock(actor, opened, 0, 10, true, "a").status, Status::NFS4ERR_DENIED);
  EXPECT_EQ(lock(actor, opened, 20, 10, false, "a").status, Status::NFS4_OK);
  EXPECT_EQ(lock(actor, opened, 20, 10, true, "a").status, Status::NFS4_OK) << "an upgrade";
}

TEST_F(V4LockTest, AnAdvisoryLockStopsNoInput) {
  Actor actor = mounted();
  Actor other = mounted("other", 2);
  const auto theirs = open(other, "f", 3).stateid;
  ASSERT_EQ(lock(actor, open(actor, "f", 3).stateid, 0, kEnd, true).status, Status::NFS4_OK);
  EXPECT_EQ(io_of(other, theirs, AccessMode::write, {0, 9}), Status::NFS4_OK);
}

TEST_F(V4LockTest, AMandatoryLockStopsInputOfOtherOwners) {
  start({}, true);
  Actor actor = mounted();
  Actor other = mounted("other", 2);
  const auto mine = open(actor, "f", 3).stateid;
  const auto theirs = open(other, "f", 3).stateid;
  const auto locked = lock(actor, mine, 10, 10, true);
  ASSERT_EQ(locked.status, Status::NFS4_OK);
  EXPECT_EQ(io_of(other, theirs, AccessMode::read, {0, 10}), Status::NFS4ERR_LOCKED);
  EXPECT_EQ(io_of(other, theirs, AccessMode::write, {19, 30}), Status::NFS4ERR_LOCKED);
  EXPECT_EQ(io_of(other, {}, AccessMode::read, {19, 30}), Status::NFS4ERR_LOCKED);
  EXPECT_EQ(io_of(other, theirs, AccessMode::write, {20, 30}), Status::NFS4_OK);
  EXPECT_EQ(io_of(actor, locked.resok4.lock_stateid, AccessMode::write, {0, 30}), Status::NFS4_OK);
  EXPECT_EQ(io_of(actor, mine, AccessMode::read, {10, 10}), Status::NFS4ERR_LOCKED)
      << "RFC 8881 8.2.5: it does not say whose input it is";
  ASSERT_EQ(lock(actor, mine, 40, 10, false, "reader").status, Status::NFS4_OK);
  EXPECT_EQ(io_of(other, theirs, AccessMode::read, {40, 49}), Status::NFS4_OK);
  EXPECT_EQ(io_of(other, theirs, AccessMode::write, {40, 49}), Status::NFS4ERR_LOCKED);
}

TEST_F(V4LockTest, AMandatoryLockWaitsForDelegations) {
  start({}, true);
  Actor reader = mounted();
  Actor other = mounted("other", 2);
  ASSERT_EQ(open(reader, "f", 1).delegation.delegation_type,
            nfs4::DelegationType::OPEN_DELEGATE_READ);
  const auto theirs = open(other, "f", 1).stateid;
  EXPECT_EQ(lock(other, theirs, 0, 1, false).status, Status::NFS4ERR_DELAY) << "RFC 8881 18.10.4";
  EXPECT_EQ(reader.backchannel->calls.size(), 1U);
}

TEST_F(V4LockTest, RangesSplitAndMerge) {
  Actor actor = mounted();
  const auto opened = open(actor, "f", 3).stateid;
  auto held = lock(actor, opened, 0, 100, true).resok4.lock_stateid;
  const auto change = [&](std::uint64_t offset, std::uint64_t length, int write) {
    if (write < 0) {
      held = run(op_locku, {nfs4::LockType::WRITE_LT, 0, held, offset, length}, actor, file)
                 .resok4.lock_stateid;
      return;
    }
    held = lock(actor, opened, offset, length, write == 1).resok4.lock_stateid;
  };
  change(40, 20, -1);
  EXPECT_EQ(ranges(), (Ranges{{0, 39, 1}, {60, 99, 1}})) << "unlocking the middle leaves two";
  change(40, 20, 0);
  EXPECT_EQ(ranges(), (Ranges{{0, 39, 1}, {40, 59, 0}, {60, 99, 1}}));
  change(40, 20, 1);
  EXPECT_EQ(ranges(), (Ranges{{0, 99, 1}})) << "neighbours of one type become one";
  change(30, kEnd, 0);
  EXPECT_EQ(ranges(), (Ranges{{0, 29, 1}, {30, kEnd, 0}}));
  change(0, kEnd, -1);
  EXPECT_EQ(ranges(), Ranges{});
  EXPECT_EQ(held.seqid, 6U) << "each LOCK and LOCKU moves the seqid of the lock stateid";
  EXPECT_EQ(state->tables().find_client(actor.clientid)->range_count, 0U);
}

TEST_F(V4LockTest, RangesThatAreNoneAreInvalid) {
  Actor actor = mounted();
  const auto opened = open(actor, "f", 3).stateid;
  EXPECT_EQ(lock(actor, opened, 5, 0, true).status, Status::NFS4ERR_INVAL);
  EXPECT_EQ(lock(actor, opened, kEnd, 2, true).status, Status::NFS4ERR_INVAL);
  EXPECT_EQ(lock(actor, opened, kEnd - 1, 2, true).status, Status::NFS4_OK);
  EXPECT_EQ(lock(actor, opened, kEnd, kEnd, true).status, Status::NFS4_OK);
}

TEST_F(V4LockTest, AWriteLockNeedsAnOpenForWriting) {
  Actor actor = mounted();
  const auto opened = open(actor, "f", nfs4::OPEN4_SHARE_ACCESS_READ).stateid;
  EXPECT_EQ(lock(actor, opened, 0, 1, true).status, Status::NFS4ERR_OPENMODE);
  EXPECT_EQ(lock(actor, opened, 0, 1, false).status, Status::NFS4_OK);
}

TEST_F(V4LockTest, LocktTellsWithoutLocking) {
  Actor actor = mounted();
  Actor other = mounted("other", 2);
  const auto opened = open(actor, "f", 3).stateid;
  lock(actor, opened, 0, 10, true);
  const auto test = [&](Actor& who, std::string_view owner) {
    nfs4::LocktArgs args{nfs4::LockType::WRITE_LT, 5, 1, {who.clientid, octets_of(owner)}};
    return run(op_lockt, args, who, file).status;
  };
  EXPECT_EQ(test(actor, "locker"), Status::NFS4_OK) << "its own lock is not in its way";
  EXPECT_EQ(test(actor, "another"), Status::NFS4ERR_DENIED);
  EXPECT_EQ(test(other, "locker"), Status::NFS4ERR_DENIED) << "owners are of one client";
  EXPECT_EQ(ranges().size(), 1U);
}

TEST_F(V4LockTest, CloseAndTheEndOfALeaseFreeLocks) {
  Actor actor = mounted();
  Actor other = mounted("other", 2);
  const auto mine = open(actor, "f", 3).stateid;
  const auto theirs = open(other, "f", 3).stateid;
  lock(actor, mine, 0, kEnd, true);
  EXPECT_EQ(lock(other, theirs, 0, 1, true).status, Status::NFS4ERR_DENIED);
  EXPECT_EQ(close(actor, mine, file), Status::NFS4_OK);
  EXPECT_EQ(lock(other, theirs, 0, kEnd, true).status, Status::NFS4_OK);
  pass(kLeaseTime / 2);
  sequence(actor, 1);
  pass(kLeaseTime / 2 + 1s);  // the other one's lease is over
  const auto again = open(actor, "f", 3).stateid;
  EXPECT_EQ(lock(actor, again, 0, kEnd, true).status, Status::NFS4_OK);
}

TEST_F(V4LockTest, LockOwnersOfMinorVersion0HaveSeqidsOfTheirOwn) {
  Actor actor = known();
  const auto opened = open(actor, "f", 3).stateid;
  const auto args = lock_args(actor, opened, 0, 10, true);
  const auto once = run(op_lock, args, actor, file);
  ASSERT_EQ(once.status, Status::NFS4_OK);
  EXPECT_EQ(run(op_lock, args, actor, file).resok4.lock_stateid, once.resok4.lock_stateid);
  const auto unlock = [&](std::uint32_t seqid, const nfs4::StateId& stateid) {
    return run(op_locku, {nfs4::LockType::WRITE_LT, seqid, stateid, 0, 5}, actor, file);
  };
  EXPECT_EQ(unlock(3, once.resok4.lock_stateid).status, Status::NFS4ERR_BAD_SEQID);
  const auto unlocked = unlock(2, once.resok4.lock_stateid);
  ASSERT_EQ(unlocked.status, Status::NFS4_OK);
  EXPECT_EQ(unlock(2, once.resok4.lock_stateid).resok4.lock_stateid, unlocked.resok4.lock_stateid)
      << "a retry gets the same reply, though its stateid is old by now";
  EXPECT_EQ(ranges(), (Ranges{{5, 9, 1}}));
  const nfs4::ReleaseLockownerArgs release{{actor.clientid, octets_of("locker")}};
  EXPECT_EQ(run(op_release_lockowner, release, actor).status, Status::NFS4ERR_LOCKS_HELD);
  run(op_locku, {nfs4::LockType::WRITE_LT, 3, unlocked.resok4.lock_stateid, 0, kEnd}, actor, file);
  EXPECT_EQ(run(op_release_lockowner, release, actor).status, Status::NFS4_OK);
  EXPECT_TRUE(state->tables().find_client(actor.clientid)->lock_owners.empty());
}

TEST_F(V4LockTest, ALockOwnerOfMinorVersion0IsNewOnceInAnOpen) {
  Actor actor = known();
  const auto opened = open(actor, "f", 3).stateid;
  const auto once = run(op_lock, lock_args(actor, opened, 0, 10, true), actor, file);
  ASSERT_EQ(once.status, Status::NFS4_OK);
  auto again = lock_args(actor, opened, 20, 10, true);
  again.locker.open_owner.open_seqid = 4;
  again.locker.open_owner.lock_seqid = 2;
  EXPECT_EQ(run(op_lock, again, actor, file).status, Status::NFS4ERR_BAD_SEQID)
      << "RFC 7530 16.10.5: it has a stateid for that";
  EXPECT_EQ(ranges(), (Ranges{{0, 9, 1}}));
  again.locker.new_lock_owner = false;
  again.locker.lock_owner = {once.resok4.lock_stateid, 2};
  EXPECT_EQ(run(op_lock, again, actor, file).status, Status::NFS4_OK);
}

TEST_F(V4LockTest, RangesOfOneFileHaveALimit) {
  Actor actor = mounted();
  const auto opened = open(actor, "f", 3).stateid;
  Status last = Status::NFS4_OK;
  std::uint64_t count = 0;
  for (; last == Status::NFS4_OK && count < 2 * kMostRangesPerFile; ++count)
    last = lock(actor, opened, 2 * count, 1, true).status;
  EXPECT_EQ(last, Status::NFS4ERR_SERVERFAULT) << "with NFS4ERR_DELAY clients would wait for ever";
  EXPECT_LE(ranges().size(), kMostRangesPerFile);
}

TEST_F(V4LockTest, UnlockingHolesHasTheSameLimit) {
  Actor actor = mounted();
  auto stateid = lock(actor, open(actor, "f", 3).stateid, 0, kEnd, true).resok4.lock_stateid;
  const auto unlock = [&](std::uint64_t offset, std::uint64_t length) {
    const auto unlocked =
        run(op_locku, {nfs4::LockType::WRITE_LT, 0, stateid, offset, length}, actor, file);
    if (unlocked.status == Status::NFS4_OK) stateid = unlocked.resok4.lock_stateid;
    return unlocked.status;
  };
  Status last = Status::NFS4_OK;
  for (std::uint64_t i = 1; last == Status::NFS4_OK && i < 2 * kMostRangesPerFile; ++i)
    last = unlock(2 * i, 1);
  EXPECT_EQ(last, Status::NFS4ERR_LOCK_RANGE);
  EXPECT_LE(ranges().size(), kMostRangesPerFile);
  EXPECT_EQ(unlock(0, kEnd), Status::NFS4_OK);
  EXPECT_TRUE(ranges().empty());
}

}  // namespace
}  // namespace steertag::peer::testing
