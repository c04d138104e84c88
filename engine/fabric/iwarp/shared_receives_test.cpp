// Full operation of a bare socket's connection whose receives are shared, while there is none.
#include <poll.h>

#include "fabric/software/shared_receives.h"
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

/// Stands for another connection, which writes a message of its own into each receive that it gets.
class Other final : public software::ReceiveTaker {
 public:
  void on_receive(const software::PostedReceive& receive) override {
    got.push_back(receive);
    std::ranges::fill(receive.buffer, std::byte{0xff});
  }
  software::PostedReceive surrender() override { return {}; }

  std::vector<software::PostedReceive> got;
};

class BegunMessageTest : public SharedReceivesTest {
 protected:
  software::SharedReceives& shared() { return dynamic_cast<software::SharedReceives&>(*queue); }
  // Two FPDUs of one message of 40 octets.
  static Bytes two_segments() {
    const Bytes whole = pattern(40);
    Segment first = untagged(Opcode::send, kSendQueue, 1);
    first.last = false;
    Segment second = untagged(Opcode::send, kSendQueue, 1);
    second.mo = 24;
    Bytes stream = fpdu(first, Bytes(whole.begin(), whole.begin() + 24));
    const Bytes rest = fpdu(second, Bytes(whole.begin() + 24, whole.end()));
    stream.insert(stream.end(), rest.begin(), rest.end());
    return stream;
  }
  // The other one takes the only receive, if it can, and gives it back with other octets.
  void take_for_another() {
    if (const auto taken = shared().take(other)) other.on_receive(*taken);
    ASSERT_EQ(other.got.size(), 1U);
    queue->post(other.got.back().buffer, other.got.back().id);
    other.got.clear();
  }

  Other other;
};

TEST_F(BegunMessageTest, ItLeavesItsReceiveToAnotherAndGoesOn) {
  const Bytes stream = two_segments();
  for (std::size_t cut = 1; cut < stream.size(); ++cut) {
    SCOPED_TRACE(::testing::Message() << "cut at " << cut);
    if (cut > 1) {
      pair.drop_server();
      peer.reset();
      ASSERT_NO_FATAL_FAILURE(SetUp());
    }
    post();
    const auto at = stream.begin() + static_cast<std::ptrdiff_t>(cut);
    const std::size_t octets = pair.server_bytes.from_client.size() + cut;
    send(Bytes(stream.begin(), at));
    ASSERT_TRUE(pair.poll_until([&] { return pair.server_bytes.from_client.size() == octets; }));
    ASSERT_NO_FATAL_FAILURE(take_for_another());
    send(Bytes(at, stream.end()));
    ASSERT_TRUE(come(1));
    EXPECT_EQ(pair.server_notices.received[0].bytes, pattern(40));
  }
}

TEST_F(BegunMessageTest, ItWaitsInTheMiddleForAReceive) {
  const Bytes stream = two_segments();
  const auto at = stream.begin() + 30;
  const std::size_t octets = pair.server_bytes.from_client.size() + 30;
  post();
  send(Bytes(stream.begin(), at));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_bytes.from_client.size() == octets; }));
  const auto taken = shared().take(other);
  ASSERT_TRUE(taken);
  std::ranges::fill(taken->buffer, std::byte{0xff});
  send(Bytes(at, stream.end()));
  ASSERT_TRUE(pair.poll_until([&] { return queue->waiting() == 1; }));
  *now += std::chrono::nanoseconds(std::chrono::hours(1)).count();
  pair.provider->poll(std::chrono::milliseconds(0));
  ASSERT_FALSE(pair.server_notices.closed) << pair.server_notices.closed->detail;
  queue->post(taken->buffer, taken->id);
  ASSERT_TRUE(come(1));
  EXPECT_EQ(pair.server_notices.received[0].bytes, pattern(40));
}

TEST_F(BegunMessageTest, ItGivesItsReceiveToWhoIsInTheLine) {
  const Bytes stream = two_segments();
  ASSERT_NO_FATAL_FAILURE(send_and_wait(Bytes(stream.begin(), stream.begin() + 30)));
  ASSERT_FALSE(shared().take(other));
  ASSERT_EQ(queue->waiting(), 2U);
  post();
  ASSERT_TRUE(pair.poll_until([&] { return other.got.size() == 1; }))
      << "it comes first, but is not whole";
  EXPECT_EQ(queue->waiting(), 0U);
  queue->post(other.got[0].buffer, other.got[0].id);
  send(Bytes(stream.begin() + 30, stream.end()));
  ASSERT_TRUE(come(1));
  EXPECT_EQ(pair.server_notices.received[0].bytes, pattern(40));
}

TEST_F(BegunMessageTest, WhatIsSetAsideHasALimit) {
  software::SharedReceives& all = shared();
  ASSERT_TRUE(all.set_aside(software::kMostSetAsideBytes - 63));
  post();
  const Bytes stream = two_segments();
  const std::size_t octets = pair.server_bytes.from_client.size() + 30;
  send(Bytes(stream.begin(), stream.begin() + 30));
  ASSERT_TRUE(pair.poll_until([&] { return pair.server_bytes.from_client.size() == octets; }));
  EXPECT_FALSE(all.take(other)) << "there is no room for its 64 octets";
  all.leave(other);
  all.forget(software::kMostSetAsideBytes - 63);
  EXPECT_TRUE(all.take(other));
  pair.drop_server();
  EXPECT_TRUE(all.set_aside(software::kMostSetAsideBytes)) << "a connection that ended counts";
}

}  // namespace
}  // namespace steertag::fabric::iwarp
