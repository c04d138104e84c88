// Records in the place where they arrive, and a client's calls over TCP.
// The calls are pipelined, sent again after a loss, and given up.
#include "client/stream/stream_requester.h"

#include "client/rdma/call_builder.h"
#include "net/socket.h"
#include "server/server_thread.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

class RecordBufferTest : public ::testing::Test {
 protected:
  /// Gives the octets in pieces of that size, and returns the records.
  std::vector<Bytes> records(View octets, std::size_t piece) {
    std::vector<Bytes> found;
    while (!octets.empty()) {
      const MutableView room = buffer.room();
      const std::size_t length = std::min({piece, room.size(), octets.size()});
      std::copy_n(octets.begin(), length, room.begin());
      buffer.filled(length);
      octets = octets.subspan(length);
      for (auto record = buffer.next(); record && *record; record = buffer.next())
        found.push_back(copy(**record));
    }
    return found;
  }
  RecordBuffer buffer;
};

TEST_F(RecordBufferTest, PiecesOfAnySizeGiveTheSameRecords) {
  const std::vector<Bytes> wanted{pattern(4), pattern(0), pattern(100'000), pattern(24),
                                  pattern(70'001)};
  Bytes octets;
  for (const Bytes& record : wanted) rpc::append_record(octets, record);
  rpc::append_record(octets, pattern(5000), 999);  // in fragments
  rpc::append_record(octets, pattern(8));
  std::vector<Bytes> all = wanted;
  all.push_back(pattern(5000));
  all.push_back(pattern(8));
  for (const std::size_t piece : {1U, 3U, 1000U, 16384U, 1U << 20}) {
    buffer.clear();
    EXPECT_EQ(records(octets, piece), all) << piece;
    EXPECT_FALSE(buffer.mid_record());
  }
}

TEST_F(RecordBufferTest, AnnouncedLengthTakesNoMemory) {
  const Bytes mark{std::byte{0x80}, std::byte{0x3f}, std::byte{0xff}, std::byte{0xff}};
  EXPECT_TRUE(records(mark, 4).empty());
  EXPECT_LE(buffer.room().size(), kRecordStartBytes);
  EXPECT_TRUE(buffer.mid_record());
}

TEST_F(RecordBufferTest, RecordBeyondTheLimitIsAFault) {
  buffer = RecordBuffer(100);
  Bytes octets;
  rpc::append_record(octets, pattern(101));
  std::copy(octets.begin(), octets.end(), buffer.room().begin());
  buffer.filled(octets.size());
  EXPECT_FALSE(buffer.next());
}

class StreamRequesterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::array urls{*net::parse_url("tcp://127.0.0.1:0")};
    server = *ServerThread::start(
        urls, {}, seeded_random(7),
        std::make_unique<MemoryBackend>(counting_clock(), seeded_random(8), MemoryLimits{}));
    requester = *StreamRequester::open(server->listening().front(), {}, 100);
  }
  static Request null_call() { return nfs3_call(nfs3::Procedure::NFSPROC3_NULL, nfs3::Void{}, {}); }
  void submit(StreamRequester& to) {
    ASSERT_TRUE(to.submit(null_call(), [this](const Expected<CallReply, CallError>& reply) {
      ++(reply ? replies : failures);
      if (!reply) error = reply.error();
    }));
  }
  std::unique_ptr<ServerThread> server;
  std::unique_ptr<StreamRequester> requester;
  int replies = 0;
  int failures = 0;
  CallError error;
};

TEST_F(StreamRequesterTest, ManyCallsShareOneConnection) {
  for (int i = 0; i < 500; ++i) submit(*requester);
  while (requester->pending() > 0) requester->step(10s);
  EXPECT_EQ(replies, 500);
  EXPECT_EQ(requester->statistics().connections, 1U);
}

TEST_F(StreamRequesterTest, CallsAreSentAgainAfterALoss) {
  submit(*requester);
  while (requester->pending() > 0) requester->step(10s);
  for (int i = 0; i < 10; ++i) submit(*requester);
  requester->step(0ms);
  const auto answered = replies;
  requester->abort_connection();
  while (requester->pending() > 0) requester->step(10s);
  EXPECT_EQ(replies, 11);
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(requester->statistics().connections, answered == 11 ? 1U : 2U);
}

TEST_F(StreamRequesterTest, RefusedConnectionsHaveALimit) {
  net::Url nowhere = server->listening().front();
  server->stop();
  const auto alone = *StreamRequester::open(nowhere, {}, 100);
  submit(*alone);
  while (alone->pending() > 0) alone->step(10s);
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(error.code, CallErrc::connection_lost);
  EXPECT_EQ(alone->statistics().connections, kMostAttempts);
}

TEST_F(StreamRequesterTest, RefusedConnectionsCountForAllThatWait) {
  net::Url nowhere = server->listening().front();
  server->stop();
  const auto alone = *StreamRequester::open(nowhere, {}, 100);
  for (int i = 0; i < 3; ++i) submit(*alone);
  while (alone->pending() > 0) alone->step(10s);
  EXPECT_EQ(failures, 3);
  EXPECT_EQ(alone->statistics().connections, kMostAttempts);
}

TEST_F(StreamRequesterTest, CallThatIsGivenUpDoesNotDisturbOthers) {
  submit(*requester);
  const auto xid = requester->submit(null_call(), [&](const Expected<CallReply, CallError>& reply) {
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, CallErrc::timed_out);
  });
  submit(*requester);
  requester->give_up(*xid, {CallErrc::timed_out, {}});
  while (requester->pending() > 0) requester->step(10s);
  EXPECT_EQ(replies, 2);
}

}  // namespace
}  // namespace steertag::peer::testing
