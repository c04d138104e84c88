// What ends a reference: changes of the file, the lease, and the end of a connection.
#include "server/testing/direct_fixture.h"

namespace steertag::peer::testing {
namespace {

class DirectRevocationTest : public DirectTest {
 protected:
  void SetUp() override {
    DirectTest::SetUp();
    data = pattern(2 * kBlock + 1000);
    file = make_file("file", data);
    user = std::make_unique<User>(make_user());
    references = refs(*user, file).resok4.refs;
    ASSERT_EQ(references.size(), 3U);
  }
  void TearDown() override { user.reset(); }

  /// Which of the references are valid: "1.1" without the middle one.
  std::string valid() {
    std::string text;
    for (const direct::Reference& each : references) text += read_block(*user, each) ? '1' : '.';
    return text;
  }
  void write(std::uint64_t offset, View octets) {
    ASSERT_EQ(storage->write(node_of(file), offset, octets), Status::ok);
  }
  void change(const AttributeChange& change) {
    ASSERT_EQ(storage->change(node_of(file), change), Status::ok);
  }

  Bytes data;
  nfs3::FileHandle file;
  std::unique_ptr<User> user;
  References references;
};

TEST_P(DirectRevocationTest, WriteRevokesTheBlocksThatItMeets) {
  EXPECT_EQ(valid(), "111");
  write(kBlock - 1, Bytes(2, std::byte{0x77}));
  EXPECT_EQ(valid(), "..1");
  EXPECT_EQ(access->counters().revocations, 2U);
}

TEST_P(DirectRevocationTest, NewGrantHasTheNewOctets) {
  write(10, Bytes(5, std::byte{0x77}));
  const References again = refs(*user, file, 1).resok4.refs;
  ASSERT_EQ(again.size(), 1U);
  EXPECT_NE(again[0].generation, references[0].generation);
  EXPECT_FALSE(read_block(*user, references[0])) << "by the old reference";
  const auto block = read_block(*user, again[0]);
  ASSERT_TRUE(block);
  EXPECT_EQ(*block, copy(View(content("file")).first(kBlock)));
  EXPECT_EQ(access->frames(), 3U) << "the frame of the block is used again";
}

TEST_P(DirectRevocationTest, RevokedFramesHaveNoOctetOfTheData) {
  AttributeChange no_access;
  no_access.mode = 0;
  change(no_access);
  for (const direct::Reference& each : references) {
    const Bytes frame = read_frame(*user, each);
    EXPECT_EQ(frame, Bytes(frame.size())) << "block at " << each.offset;
  }
}

TEST_P(DirectRevocationTest, OwnerAndGroupRevokeAll) {
  AttributeChange given;
  given.uid = 7;
  change(given);
  EXPECT_EQ(valid(), "...");
  references = refs(*user, file).resok4.refs;
  EXPECT_EQ(valid(), "111");
  AttributeChange group;
  group.gid = 7;
  change(group);
  EXPECT_EQ(valid(), "...");
}

TEST_P(DirectRevocationTest, TimesRevokeNothing) {
  AttributeChange times;
  times.mtime.to_server_time = true;
  times.size_bytes = data.size();
  change(times);
  EXPECT_EQ(valid(), "111");
}

TEST_P(DirectRevocationTest, ShorterFileRevokesFromItsEnd) {
  AttributeChange shorter;
  shorter.size_bytes = kBlock + 5;
  change(shorter);
  EXPECT_EQ(valid(), "1..");
  const References again = refs(*user, file).resok4.refs;
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(again[1].length, 5U);
  EXPECT_EQ(read_block(*user, again[1]), copy(View(data).subspan(kBlock, 5)));
}

TEST_P(DirectRevocationTest, LongerFileRevokesItsLastBlock) {
  write(5 * kBlock, Bytes(1, std::byte{0x77}));
  EXPECT_EQ(valid(), "11.");
  const References again = refs(*user, file, 1, 2 * kBlock).resok4.refs;
  ASSERT_EQ(again.size(), 1U);
  Bytes expected = copy(View(data).subspan(2 * kBlock));
  expected.resize(kBlock);
  EXPECT_EQ(read_block(*user, again[0]), expected) << "zeros behind the old end";
}

TEST_P(DirectRevocationTest, RemoveRevokesAll) {
  ASSERT_EQ(storage->remove(storage->root(), "file"), Status::ok);
  make_file("other", pattern(3 * kBlock, 2));
  EXPECT_EQ(valid(), "...");
}

TEST_P(DirectRevocationTest, WriteByNfsRevokes) {
  const auto client = connect();
  const Bytes octets = pattern(10, 3);
  nfs3::WriteArgs args;
  args.file = file;
  args.count = 10;
  args.data = octets;
  const auto written = client->call<nfs3::WriteResult>(nfs3::Procedure::NFSPROC3_WRITE, args);
  ASSERT_TRUE(written && written->status == nfs3::Status::NFS3_OK);
  EXPECT_EQ(valid(), ".11");
}

TEST_P(DirectRevocationTest, MemoryStaysForTheLease) {
  write(0, Bytes(1));
  now += access->limits().lease - 1ms;
  server->poll(0ms);
  EXPECT_EQ(valid(), ".11") << "a fault, or a frame that lost its memory";
  now += 1ms + kLeaseCheckInterval;
  server->poll(0ms);
  EXPECT_EQ(access->frames(), 0U);
  EXPECT_FALSE(read_memory(*user, references[1], 1));
}

TEST_P(DirectRevocationTest, EndOfTheOptimisticConnectionFreesTheMemory) {
  user->optimistic->connection->disconnect();
  drive([&] { return access->users() == 0; });
  EXPECT_EQ(access->frames(), 0U);
  const auto read =
      call<direct::ReadResult>(*user, Procedure::DIRECTPROC1_READ, read_args(file, 0, 100, 1));
  EXPECT_EQ(read.resok4.data.size(), 100U) << "the RPC connection lives";
  EXPECT_TRUE(read.resok4.refs.empty());
}

TEST_P(DirectRevocationTest, EndOfTheRpcConnectionEndsTheOptimisticOne) {
  user->rpc->requester().abort_connection();
  drive([&] { return user->optimistic->is_over() && access->users() == 0; });
  EXPECT_EQ(access->frames(), 0U);
}

TEST_P(DirectRevocationTest, AnotherHelloVoidsAll) {
  hello(*user);
  drive([&] { return user->optimistic->is_over(); });
  EXPECT_EQ(access->frames(), 0U);
}

TEST_P(DirectRevocationTest, SameVerifierOnAnotherConnectionVoidsAll) {
  User first = connect_user();
  ASSERT_TRUE(open(first, hello(first, 77).resok4.ticket));
  User second = connect_user();
  EXPECT_TRUE(open(second, hello(second, 77).resok4.ticket));
  drive([&] { return first.optimistic->is_over(); });
  EXPECT_FALSE(user->optimistic->is_over()) << "another verifier";
}

STEERTAG_OVER_PROVIDERS(DirectRevocationTest);

}  // namespace
}  // namespace steertag::peer::testing
