// Full operation of a bare socket's connection whose receives are shared, while there is none.
#include <poll.h>

#include "fabric/testing/raw_connection.h"

namespace steertag::fabric::iwarp {
namespace {

using namespace fabric::testing;  // NOLINT: the test endpoints

class SharedReceivesTest : public RawConnectionTest {
 protected:
  void SetUp() override {
    auto made = pair.provider->make_receive_queue(*pair.server_domain);
    ASSERT_TRUE(made) << made.error().message();
    queue = std::move(*made);
    pair.server_options.receives = queue.get();
    ASSERT_NO_FATAL_FAILURE(RawConnectionTest::SetUp());
    startup = pair.server_bytes.from_client.size();
  }
  ~SharedReceivesTest() override { pair.server.reset(); }

  void post() {
    room.push_back(std::make_unique<Bytes>(64));
    queue->post(*room.back(), room.size());
  }
  // One message waits, whose header and the octets behind it have arrived.
  void send_and_wait(const Bytes& octets) {
    send(octets);
    ASSERT_TRUE(pair.poll_until([&] { return queue->waiting() == 1; }));
  }
  ::testing::AssertionResult come(std::size_t messages) {
    const auto& received = pair.server_notices.received;
    if (pair.poll_until(
            [&] { return received.size() >= messages || pair.server_notices.closed; })) {
      if (!pair.server_notices.closed) return ::testing::AssertionSuccess();
      return ::testing::AssertionFailure() << pair.server_notices.closed->detail;
    }
    return ::testing::AssertionFailure() << received.size() << " of " << messages << " came";
  }

  std::unique_ptr<ReceiveQueue> queue;
  std::vector<std::unique_ptr<Bytes>> room;
  std::size_t startup = 0;  // octets of it
};

TEST_F(SharedReceivesTest, EverySplitOfAStreamGoesOnWhereItStopped) {
  Bytes stream = message(1, 40);
  for (const Bytes& next : {message(2, 0), message(3, 13)}) {
    stream.insert(stream.end(), next.begin(), next.end());
  }
  for (std::size_t cut = 1; cut < stream.size(); ++cut) {
    SCOPED_TRACE(::testing::Message() << "cut at " << cut);
    if (cut > 1) {
      pair.drop_server();
      peer.reset();
      ASSERT_NO_FATAL_FAILURE(SetUp());
    }
    const auto at = stream.begin() + static_cast<std::ptrdiff_t>(cut);
    send(Bytes(stream.begin(), at));
    pair.provider->poll(std::chrono::milliseconds(0));
    send(Bytes(at, stream.end()));
    for (std::size_t i = 1; i <= 3; ++i) {
      ASSERT_TRUE(pair.poll_until([&] { return queue->waiting() == 1; }));
      post();
      ASSERT_TRUE(come(i));
    }
    EXPECT_EQ(pair.server_notices.received[0].bytes, pattern(40));
    EXPECT_EQ(pair.server_notices.received[1].bytes, Bytes());
    EXPECT_EQ(pair.server_notices.received[2].bytes, pattern(13));
    EXPECT_EQ(pair.server_bytes.from_client.size(), startup + stream.size())
        << "octets are reported once";
  }
}

TEST_F(SharedReceivesTest, ThePeerIsHeldBack) {
  Bytes flood;
  std::uint32_t sent = 0;
  while (flood.size() < (1 << 20)) {
    const Bytes next = message(++sent, 64);
    flood.insert(flood.end(), next.begin(), next.end());
  }
  std::size_t taken = peer->send(flood);
  ASSERT_TRUE(pair.poll_until([&] { return queue->waiting() == 1; }));
  pair.provider->poll(std::chrono::milliseconds(0));
  constexpr std::size_t kMostRead = 16384;
  EXPECT_LT(pair.server_bytes.from_client.size(), kMostRead)
      << "octets are read that have no place";
  const auto quiet = [&] {
    pollfd work{pair.provider->descriptor(), POLLIN, 0};
    return ::poll(&work, 1, 0) == 0;
  };
  ASSERT_TRUE(pair.poll_until(quiet)) << "the provider spins over octets that it does not take";
  for (std::uint32_t i = 1; i <= sent; ++i) {
    post();
    if (taken < flood.size()) taken += peer->send(View(flood).subspan(taken));
    ASSERT_TRUE(pair.poll_until([&] {
      if (taken < flood.size()) taken += peer->send(View(flood).subspan(taken));
      return pair.server_notices.received.size() == i;
    }));
  }
}

TEST_F(SharedReceivesTest, NoTimeLimitOfThePeerRunsWhileOurSideTakesNothing) {
  Bytes two = message(1, 40);
  const Bytes next = message(2, 8);
  two.insert(two.end(), next.begin(), next.end() - 5);  // it ends inside the second one
  ASSERT_NO_FATAL_FAILURE(send_and_wait(two));
  *now += std::chrono::nanoseconds(std::chrono::hours(1)).count();
  pair.provider->poll(std::chrono::milliseconds(0));
  pair.provider->poll(std::chrono::milliseconds(0));
  ASSERT_FALSE(pair.server_notices.closed) << pair.server_notices.closed->detail;
  post();
  post();
  ASSERT_TRUE(come(1));
  *now += std::chrono::nanoseconds(Limits{}.mid_message).count();
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed.has_value(); }))
      << "the limit runs again once our side reads";
  EXPECT_EQ(pair.server_notices.closed->code, Errc::timed_out);
  EXPECT_EQ(queue->posted(), 1U);
}

TEST_F(SharedReceivesTest, AnOrderlyEndComesBehindWhatWaits) {
  ASSERT_NO_FATAL_FAILURE(send_and_wait(message(1, 40)));
  peer->end();
  pair.provider->poll(std::chrono::milliseconds(0));
  EXPECT_FALSE(pair.server_notices.closed);
  post();
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed.has_value(); }));
  EXPECT_EQ(pair.server_notices.received.size(), 1U);
  EXPECT_EQ(pair.server_notices.closed->code, Errc::peer_closed);
}

TEST_F(SharedReceivesTest, OnlySendsWait) {
  send(write(writable->stag(), writable->base(), 8));
  send(read_request(100, readable->stag(), readable->base()));
  ASSERT_TRUE(pair.poll_until([&] { return !peer->read() || peer->got.size() > before + 100; }));
  EXPECT_EQ(queue->waiting(), 0U);
  EXPECT_FALSE(pair.server_notices.closed);
}

TEST_F(SharedReceivesTest, ATerminateOfOursEndsTheWait) {
  ASSERT_NO_FATAL_FAILURE(send_and_wait(message(1, 40)));
  ASSERT_TRUE(pair.server->terminate({0, 0, 0}));
  EXPECT_EQ(queue->waiting(), 0U);
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_notices.closed.has_value(); }));
  post();
  EXPECT_EQ(queue->posted(), 1U);
}

}  // namespace
}  // namespace steertag::fabric::iwarp
