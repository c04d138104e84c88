// Open-owners of NFSv4: their confirmation and seqids in minor version 0, and their limits.
#include "server/testing/v4_state_fixture.h"

namespace steertag::peer::testing {
namespace {

constexpr std::uint32_t kRead = nfs4::OPEN4_SHARE_ACCESS_READ;
constexpr std::uint32_t kWrite = nfs4::OPEN4_SHARE_ACCESS_WRITE;
constexpr std::uint32_t kBoth = nfs4::OPEN4_SHARE_ACCESS_BOTH;

using V4OwnerTest = V4StateTest;

TEST_F(V4OwnerTest, OwnersOfAllClientsHaveALimit) {
  Actor old = known();
  make_file("f");
  std::size_t& held = state->tables().owner_bytes;
  EXPECT_EQ(held, 0U);
  auto args = open_args(old, "f", kRead);
  EXPECT_EQ(run(op_open, args, old, root()).status, Status::NFS4_OK);
  EXPECT_GT(held, 0U);
  const std::size_t others = kMostOwnerBytes - held;
  held += others;  // as if other clients had them
  args.owner.owner = octets_of("another");
  EXPECT_EQ(run(op_open, args, old, root()).status, Status::NFS4ERR_RESOURCE);
  held -= others;
  EXPECT_EQ(run(op_open, args, old, root()).status, Status::NFS4_OK);
  pass(kLeaseTime + 1s);
  EXPECT_EQ(held, 0U);
}

TEST_F(V4OwnerTest, TheClientsOfOneHostLeaveOwnersToOthers) {
  constexpr std::size_t kClients = 16;  // each may have 4096 owners
  Status last = Status::NFS4_OK;
  for (std::size_t i = 0; i < kClients && last != Status::NFS4ERR_NOSPC; ++i) {
    const std::string name = "file " + std::to_string(i);
    make_file(name);
    Actor flooding = mounted("flooding " + std::to_string(i), i + 1, "192.0.2.66");
    last = Status::NFS4_OK;
    for (std::size_t count = 0; last == Status::NFS4_OK && count < kMostOwnersPerClient; ++count) {
      std::string owner(nfs4::kMostOpaqueOctets, 'o');
      owner.replace(0, 8, std::to_string(10'000'000 + count));
      auto args = open_args(flooding, name, kWrite);
      args.owner.owner = octets_of(owner);
      last = run(op_open, args, flooding, root()).status;
    }
  }
  EXPECT_EQ(last, Status::NFS4ERR_NOSPC);
  constexpr std::size_t kLastName = 2 * nfs4::kMostOpaqueOctets;  // it may stand over the limit
  EXPECT_LE(state->tables().owner_bytes, kMostOwnerBytesPerHost + kLastName);
  Actor other = mounted("other", 100, "192.0.2.67");
  EXPECT_EQ(run(op_open, open_args(other, "file 0", kRead), other, root()).status, Status::NFS4_OK)
      << "one host has shut the others out";
  pass(kLeaseTime + 1s);
  EXPECT_EQ(state->tables().owner_bytes, 0U);
}

TEST_F(V4OwnerTest, AnOwnerOfMinorVersion0IsConfirmedBeforeItIsUsed) {
  Actor actor = known();
  const Handle file = make_file("f");
  const auto opened = run(op_open, open_args(actor, "f", kBoth, 0, 40), actor, root()).resok4;
  EXPECT_TRUE(opened.rflags & nfs4::OPEN4_RESULT_CONFIRM);
  EXPECT_EQ(opened.delegation.delegation_type, nfs4::DelegationType::OPEN_DELEGATE_NONE);
  EXPECT_EQ(io(actor, opened.stateid, file, AccessMode::read), Status::NFS4ERR_BAD_STATEID);
  const auto confirmed = run(op_open_confirm, {opened.stateid, 41}, actor, file);
  ASSERT_EQ(confirmed.status, Status::NFS4_OK);
  EXPECT_EQ(io(actor, confirmed.resok4.open_stateid, file, AccessMode::read), Status::NFS4_OK);
  const auto next = run(op_open, open_args(actor, "f", kRead, 0, 42), actor, root());
  EXPECT_FALSE(next.resok4.rflags & nfs4::OPEN4_RESULT_CONFIRM);
}

TEST_F(V4OwnerTest, SeqidsOfMinorVersion0AreInOrderAndRetriesRepeatTheReply) {
  Actor actor = known();
  const Handle file = make_file("f");
  const auto opened = open(actor, "f", kBoth);
  const auto wrong = run(op_open, open_args(actor, "f", kRead, 0, 9), actor, root());
  EXPECT_EQ(wrong.status, Status::NFS4ERR_BAD_SEQID);
  const auto absent = run(op_open, open_args(actor, "no", kRead, 0, 3), actor, root());
  EXPECT_EQ(absent.status, Status::NFS4ERR_NOENT) << "an error uses the seqid up";
  make_file("no");
  EXPECT_EQ(run(op_open, open_args(actor, "no", kRead, 0, 3), actor, root()).status,
            Status::NFS4ERR_NOENT)
      << "a retry is not executed again";
  const auto once = run(op_close, {4, opened.stateid}, actor, file);
  ASSERT_EQ(once.status, Status::NFS4_OK);
  const auto twice = run(op_close, {4, opened.stateid}, actor, file);
  EXPECT_EQ(twice.status, Status::NFS4_OK);
  EXPECT_EQ(twice.resok4.open_stateid, once.resok4.open_stateid);
  EXPECT_EQ(run(op_close, {5, opened.stateid}, actor, file).status, Status::NFS4ERR_BAD_STATEID);
}

TEST_F(V4OwnerTest, ARepeatedOpenGivesItsFilehandleAgain) {
  Actor actor = known();
  const Handle file = make_file("f");
  const auto args = open_args(actor, "f", kBoth);
  const auto once = run(op_open, args, actor, root());
  const auto twice = run(op_open, args, actor, root());
  EXPECT_EQ(once.resok4.stateid, twice.resok4.stateid);
  EXPECT_EQ(left->handle, file);
}

}  // namespace
}  // namespace steertag::peer::testing
