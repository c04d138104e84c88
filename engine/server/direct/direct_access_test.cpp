// Direct access over every provider: HELLO, tickets, grants and their limits, and who may use what.
#include "server/testing/direct_fixture.h"

namespace steertag::peer::testing {
namespace {

class DirectAccessTest : public DirectTest {};

TEST_P(DirectAccessTest, FramesHaveTheBlocksOfTheFile) {
  const Bytes data = pattern(2 * kBlock + 1000);
  const nfs3::FileHandle file = make_file("file", data);
  User user = make_user();
  const auto result = refs(user, file);
  ASSERT_EQ(result.status, nfs4::Status::NFS4_OK);
  EXPECT_EQ(result.resok4.size, data.size());
  const References references = result.resok4.refs;
  ASSERT_EQ(references.size(), 3U);
  for (const direct::Reference& each : references) {
    EXPECT_EQ(each.length, std::min<std::size_t>(kBlock, data.size() - each.offset));
    EXPECT_EQ(read_block(user, each), copy(View(data).subspan(each.offset, each.length)));
  }
  EXPECT_EQ(access->counters().grants, 3U);
  if (provider->capabilities().sees_remote_operations) {
    EXPECT_EQ(access->counters().optimistic_octets, data.size() + 3 * kFrameOctets);
  }
}

TEST_P(DirectAccessTest, AnswerHasTheFormatId) {
  User user = make_user();
  Bytes answer = user.optimistic->notices.peer_private_data;
  ASSERT_GE(answer.size(), direct::kPrivateHeaderOctets);
  EXPECT_TRUE(direct::is_optimistic(answer));
  EXPECT_EQ(user.optimistic->connection->most_outbound_reads(), 16U);
}

TEST_P(DirectAccessTest, ReadGivesReferencesBesideTheData) {
  const Bytes data = pattern(3 * kBlock);
  const nfs3::FileHandle file = make_file("file", data);
  User user = make_user();
  const auto read = call<direct::ReadResult>(user, Procedure::DIRECTPROC1_READ,
                                             read_args(file, kBlock + 10, 500, 2));
  ASSERT_EQ(read.status, nfs4::Status::NFS4_OK);
  EXPECT_EQ(copy(read.resok4.data), copy(View(data).subspan(kBlock + 10, 500)));
  EXPECT_FALSE(read.resok4.eof);
  const References references = read.resok4.refs;
  ASSERT_EQ(references.size(), 2U);
  EXPECT_EQ(references[0].offset, kBlock);
  EXPECT_EQ(read_block(user, references[1]), copy(View(data).subspan(2 * kBlock)));
}

TEST_P(DirectAccessTest, NothingIsGrantedBeforeHelloAndTheConnection) {
  const nfs3::FileHandle file = make_file("file", pattern(kBlock));
  User user = connect_user();
  EXPECT_TRUE(refs(user, file).resok4.refs.empty()) << "before HELLO";
  const auto ticket = hello(user).resok4.ticket;
  EXPECT_TRUE(refs(user, file).resok4.refs.empty()) << "before the connection";
  ASSERT_TRUE(open(user, ticket));
  EXPECT_EQ(refs(user, file).resok4.refs.size(), 1U);
}

TEST_P(DirectAccessTest, GrantNeedsWhatReadNeeds) {
  const nfs3::FileHandle file = make_file("file", pattern(100));
  AttributeChange change;
  change.mode = 0600;
  change.uid = 1;
  ASSERT_EQ(storage->change(node_of(file), change), Status::ok);
  User user = make_user(1000);
  EXPECT_EQ(refs(user, file).status, nfs4::Status::NFS4ERR_ACCESS);
  EXPECT_EQ(refs(user, root).status, nfs4::Status::NFS4ERR_BADHANDLE) << "an empty handle";
  direct::ReadArgs args = read_args(file, 0, 100, 1);
  args.state.other.fill(std::byte{7});
  user.identity.uid = 1;
  EXPECT_EQ(call<direct::ReadResult>(user, Procedure::DIRECTPROC1_READ, args).status,
            nfs4::Status::NFS4ERR_BAD_STATEID);
  EXPECT_EQ(refs(user, file).resok4.refs.size(), 1U);
}

TEST_P(DirectAccessTest, TicketIsForOneUse) {
  User user = connect_user();
  const direct::Ticket ticket = hello(user).resok4.ticket;
  direct::Ticket bent = ticket;
  bent[15] ^= std::byte{1};
  EXPECT_FALSE(open(user, bent)) << "a bent ticket";
  EXPECT_TRUE(open(user, ticket));
  User thief = connect_user();
  EXPECT_FALSE(open(thief, ticket)) << "a second use";
  EXPECT_EQ(access->users(), 1U);
}

TEST_P(DirectAccessTest, ReferenceIsForItsOwnConnection) {
  const nfs3::FileHandle file = make_file("file", pattern(kBlock));
  User owner = make_user();
  User thief = make_user();
  const References references = refs(owner, file).resok4.refs;
  ASSERT_EQ(references.size(), 1U);
  EXPECT_FALSE(read_memory(thief, references[0], 1)) << "of another user";
  EXPECT_TRUE(read_block(owner, references[0])) << "its own";
  drive([&] { return access->users() == 1; });
  if (provider->capabilities().sees_violations) {
    EXPECT_EQ(access->counters().faults, 1U);
  }
}

// Not where a protection domain is all that keeps other connections out.
TEST_P(DirectAccessTest, WindowIsForItsOwnConnection) {
  if (GetParam().name != "roce") GTEST_SKIP() << "windows are not of one connection at once";
  for (const bool binds_windows : {true, false}) {
    DirectPolicy policy;
    policy.grants.own_domains = false;
    policy.grants.binds_windows = binds_windows;
    begin({}, policy);
    const nfs3::FileHandle file = make_file("file" + std::to_string(binds_windows), pattern(100));
    User owner = make_user();
    User thief = make_user();
    const References references = refs(owner, file).resok4.refs;
    ASSERT_EQ(references.size(), 1U);
    EXPECT_TRUE(read_block(owner, references[0]));
    EXPECT_EQ(read_memory(thief, references[0], 1).has_value(), !binds_windows);
    EXPECT_TRUE(read_block(owner, references[0])) << "the other one is as it was";
  }
}

TEST_P(DirectAccessTest, ReferenceShowsItsFrameAlone) {
  const nfs3::FileHandle file = make_file("file", pattern(1000));
  for (const std::int64_t shift : {-1, 1}) {
    User user = make_user();
    const References references = refs(user, file).resok4.refs;
    ASSERT_EQ(references.size(), 1U);
    EXPECT_FALSE(read_memory(user, references[0], 1000 + kFrameOctets, shift)) << shift;
  }
}

TEST_P(DirectAccessTest, WriteToAReferenceIsRefused) {
  const Bytes data = pattern(1000);
  const nfs3::FileHandle file = make_file("file", data);
  User user = make_user();
  const References references = refs(user, file).resok4.refs;
  ASSERT_EQ(references.size(), 1U);
  const Bytes octets(8);
  ASSERT_TRUE(user.optimistic->connection->rdma_write(octets, references[0].stag,
                                                      references[0].base + kFrameHeadOctets, 0));
  // Which side learns first depends on the transport.
  drive([&] { return user.optimistic->is_over() && access->users() == 0; });
  EXPECT_EQ(content("file"), data);
  EXPECT_TRUE(refs(user, file).resok4.refs.empty())
      << "the RPC connection lives, without references";
}

TEST_P(DirectAccessTest, SendEndsTheConnection) {
  // Over InfiniBand's transport a Send without a receive is tried again for a while (RNR NAK).
  if (GetParam().name != "iwarp") GTEST_SKIP() << "the transport waits for a receive";
  User user = make_user();
  ASSERT_TRUE(user.optimistic->connection->send({}, 0));
  drive([&] { return user.optimistic->is_over() && access->users() == 0; });
}

TEST_P(DirectAccessTest, ReadOfNothingIsAnswered) {
  const nfs3::FileHandle file = make_file("file", pattern(1000));
  User user = make_user();
  const References references = refs(user, file).resok4.refs;
  ASSERT_EQ(references.size(), 1U);
  EXPECT_EQ(read_memory(user, references[0], 0), Bytes{});
  EXPECT_TRUE(read_block(user, references[0]));
}

TEST_P(DirectAccessTest, GrantsHaveLimits) {
  DirectLimits limits;
  limits.frames_of_user = 2;
  limits.frames = 3;
  begin(limits);
  const nfs3::FileHandle file = make_file("file", pattern(5 * kBlock));
  User first = make_user();
  User second = make_user();
  EXPECT_EQ(refs(first, file).resok4.refs.size(), 2U) << "of one user";
  EXPECT_EQ(refs(second, file).resok4.refs.size(), 1U) << "of all";
  EXPECT_EQ(access->frames(), 3U);
  const auto read = call<direct::ReadResult>(second, Procedure::DIRECTPROC1_READ,
                                             read_args(file, 4 * kBlock, 10, 1));
  EXPECT_EQ(read.resok4.data.size(), 10U) << "data without references";
  EXPECT_TRUE(read.resok4.refs.empty());
}

TEST_P(DirectAccessTest, OneSourceHasAShareOfAllFrames) {
  DirectLimits limits;
  limits.frames_of_source = 2;
  begin(limits);
  const nfs3::FileHandle file = make_file("file", pattern(5 * kBlock));
  User first = make_user();
  User second = make_user();
  EXPECT_EQ(refs(first, file).resok4.refs.size(), 2U);
  EXPECT_EQ(refs(second, file).resok4.refs.size(), 0U) << "of the same source";
  first = {};
  drive([&] { return access->frames() == 0; });
  EXPECT_EQ(refs(second, file).resok4.refs.size(), 2U) << "the first user gave its frames back";
}

TEST_P(DirectAccessTest, OneSourceHasAShareOfAllUsers) {
  DirectLimits limits;
  limits.users_of_source = 1;
  begin(limits);
  User first = connect_user();
  EXPECT_EQ(hello(first).status, nfs4::Status::NFS4_OK);
  User second = connect_user();
  EXPECT_EQ(hello(second).status, nfs4::Status::NFS4ERR_DELAY);
}

TEST_P(DirectAccessTest, UsersHaveALimit) {
  DirectLimits limits;
  limits.users = 1;
  begin(limits);
  User first = connect_user();
  EXPECT_EQ(hello(first).status, nfs4::Status::NFS4_OK);
  User second = connect_user();
  EXPECT_EQ(hello(second).status, nfs4::Status::NFS4ERR_DELAY);
  EXPECT_EQ(hello(first).status, nfs4::Status::NFS4_OK) << "in place of its own";
}

TEST_P(DirectAccessTest, ReturnFreesTheMemory) {
  const nfs3::FileHandle file = make_file("file", pattern(2 * kBlock));
  User user = make_user();
  direct::ReturnArgs back;
  back.refs = refs(user, file).resok4.refs;
  ASSERT_EQ(back.refs.size(), 2U);
  back.refs[1].generation ^= 1;
  call<direct::ReturnResult>(user, Procedure::DIRECTPROC1_RETURN, back);
  EXPECT_EQ(access->frames(), 1U) << "only what has that generation";
}

TEST_P(DirectAccessTest, BatchAnswersInOrder) {
  const Bytes data = pattern(300);
  const nfs3::FileHandle file = make_file("file", data);
  User user = make_user();
  direct::BatchArgs args;
  args.reads = {read_args(file, 200, 100), read_args(nfs3::FileHandle(), 0, 100),
                read_args(file, 0, 50, 1)};
  const auto batch =
      call<direct::BatchResult>(user, Procedure::DIRECTPROC1_BATCH, args, {.payload = 2000});
  ASSERT_EQ(batch.results.size(), 3U);
  EXPECT_EQ(copy(batch.results[0].resok4.data), copy(View(data).subspan(200)));
  EXPECT_TRUE(batch.results[0].resok4.eof);
  EXPECT_EQ(batch.results[1].status, nfs4::Status::NFS4ERR_BADHANDLE);
  EXPECT_EQ(copy(batch.results[2].resok4.data), copy(View(data).first(50)));
  EXPECT_EQ(batch.results[2].resok4.refs.size(), 1U);
  EXPECT_EQ(access->counters().rpc_octets, 150U);
}

TEST_P(DirectAccessTest, HelloOfAnotherFormIsRefused) {
  User user = connect_user();
  direct::HelloArgs args;
  args.frame_form = 2;
  EXPECT_EQ(call<direct::HelloResult>(user, Procedure::DIRECTPROC1_HELLO, args).status,
            nfs4::Status::NFS4ERR_INVAL);
}

TEST_P(DirectAccessTest, WithoutTheOptionThereIsNoProgram) {
  server.reset();
  serve();
  User user = connect_user();
  Request request = start_call(direct::kProgram, direct::kVersion, 0, user.identity);
  const auto reply = user.rpc->round_trip(std::move(request));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().detail, "PROG_UNAVAIL");
}

STEERTAG_OVER_PROVIDERS(DirectAccessTest);

}  // namespace
}  // namespace steertag::peer::testing
