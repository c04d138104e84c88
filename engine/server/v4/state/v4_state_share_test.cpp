// Share reservations: what OPEN_DOWNGRADE takes, and which I/O they bind.
#include "server/testing/v4_state_fixture.h"

namespace steertag::peer::testing {
namespace {

constexpr std::uint32_t kRead = nfs4::OPEN4_SHARE_ACCESS_READ;
constexpr std::uint32_t kWrite = nfs4::OPEN4_SHARE_ACCESS_WRITE;
constexpr std::uint32_t kReadUndelegated = kRead | nfs4::OPEN4_SHARE_ACCESS_WANT_NO_DELEG;

using V4ShareTest = V4StateTest;

TEST_F(V4ShareTest, ADowngradeHasNoSignals) {
  Actor actor = mounted();
  const Handle file = make_file("f");
  const auto opened = open(actor, "f", kReadUndelegated);
  const auto status = [&](std::uint32_t access) {
    return run(op_open_downgrade, {opened.stateid, 0, access, 0}, actor, file).status;
  };
  EXPECT_EQ(status(kRead | nfs4::OPEN4_SHARE_ACCESS_WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL),
            Status::NFS4ERR_INVAL)
      << "RFC 8881 18.18.3";
  EXPECT_EQ(status(kRead | nfs4::OPEN4_SHARE_ACCESS_WANT_DELEG_MASK), Status::NFS4_OK);
}

TEST_F(V4ShareTest, WhoCancelsAWantLearnsThat) {
  Actor actor = mounted();
  make_file("f");
  const auto opened = open(actor, "f", kWrite | nfs4::OPEN4_SHARE_ACCESS_WANT_CANCEL);
  EXPECT_EQ(opened.delegation.delegation_type, nfs4::DelegationType::OPEN_DELEGATE_NONE_EXT);
  EXPECT_EQ(opened.delegation.od_whynone.ond_why, nfs4::WhyNoDelegation::WND4_CANCELLED);
}

TEST_F(V4ShareTest, AReadBesideALockIsDeniedAsOneBesideItsOpen) {
  Actor actor = mounted();
  Actor other = mounted("other", 2);
  const Handle file = make_file("f");
  const auto opened = open(actor, "f", kWrite);
  const auto locked =
      run(op_lock, lock_args(actor, opened.stateid, 0, 10, true), actor, file).resok4.lock_stateid;
  EXPECT_EQ(io(actor, locked, file, AccessMode::read), Status::NFS4_OK);
  const auto denying = run(
      op_open, open_args(other, "f", kReadUndelegated, nfs4::OPEN4_SHARE_DENY_READ), other, root());
  ASSERT_EQ(denying.status, Status::NFS4_OK);
  EXPECT_EQ(io(actor, opened.stateid, file, AccessMode::read), Status::NFS4ERR_LOCKED);
  EXPECT_EQ(io(actor, locked, file, AccessMode::read), Status::NFS4ERR_LOCKED) << "RFC 8881 9.1.2";
}

TEST_F(V4ShareTest, AnOwnersOwnDenyBindsItsNextOpen) {
  Actor actor = mounted();
  make_file("f");
  const auto again = [&](std::uint32_t access, std::uint32_t deny) {
    return run(op_open, open_args(actor, "f", access, deny), actor, root()).status;
  };
  ASSERT_EQ(again(kReadUndelegated, nfs4::OPEN4_SHARE_DENY_WRITE), Status::NFS4_OK);
  EXPECT_EQ(again(kWrite, nfs4::OPEN4_SHARE_DENY_NONE), Status::NFS4ERR_SHARE_DENIED)
      << "RFC 8881 9.7: file_state has the opens of the same open-owner";
  EXPECT_EQ(again(kReadUndelegated, nfs4::OPEN4_SHARE_DENY_READ), Status::NFS4ERR_SHARE_DENIED);
  EXPECT_EQ(again(kReadUndelegated, nfs4::OPEN4_SHARE_DENY_WRITE), Status::NFS4_OK);
}

// RFC 7530 9.9: "with no exception for an existing OPEN for the same open-owner".
TEST_F(V4ShareTest, AnOwnersOwnDenyBindsItsNextOpenOfMinorVersionZero) {
  Actor actor = known();
  make_file("f");
  open(actor, "f", kRead, nfs4::OPEN4_SHARE_DENY_WRITE);
  const auto again = [&](std::uint32_t access, std::uint32_t deny, std::uint32_t seqid) {
    return run(op_open, open_args(actor, "f", access, deny, seqid), actor, root()).status;
  };
  EXPECT_EQ(again(kWrite, nfs4::OPEN4_SHARE_DENY_NONE, 3), Status::NFS4ERR_SHARE_DENIED);
  EXPECT_EQ(again(kRead, nfs4::OPEN4_SHARE_DENY_READ, 4), Status::NFS4ERR_SHARE_DENIED);
  EXPECT_EQ(again(kRead, nfs4::OPEN4_SHARE_DENY_WRITE, 5), Status::NFS4_OK);
}

// RFC 7530 16.27.4, RFC 8881 18.26.3.
TEST_F(V4ShareTest, ADirectoryReplacesNoFileWhetherItIsOpenOrNot) {
  Actor actor = mounted();
  make_file("f");
  NewNode node;
  node.type = FileType::directory;
  ASSERT_TRUE(storage.create(storage.export_root(), "d", node));
  open(actor, "f", kReadUndelegated, nfs4::OPEN4_SHARE_DENY_WRITE);
  EXPECT_EQ(rename("d", "f", actor), Status::NFS4ERR_EXIST);
  EXPECT_EQ(rename("f", "d", actor), Status::NFS4ERR_EXIST);
}

}  // namespace
}  // namespace steertag::peer::testing
