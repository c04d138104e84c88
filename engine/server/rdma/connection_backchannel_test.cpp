// Calls of the server to its client: what waits, what is answered, and what ends without an answer.
#include "server/rdma/connection_backchannel.h"

#include <gtest/gtest.h>

#include "endpoint/limits.h"
#include "wire/xdr.h"

namespace steertag::peer::testing {
namespace {

class ConnectionBackchannelTest : public ::testing::Test, private ConnectionBackchannel::Sender {
 protected:
  /// Starts a call; what becomes of it is appended to `outcomes`.
  void call(std::size_t octets = 40) {
    calls->call(Bytes(octets), [this](const Expected<View, net::Error>& reply) {
      outcomes.push_back(reply ? "reply" : reply.error().message());
      if (then) std::exchange(then, {})();
    });
  }
  static Bytes reply_to(std::uint32_t xid) {
    Bytes reply(28);
    wire::store_u32(reply.data(), xid);
    return reply;
  }

  std::chrono::steady_clock::time_point now{};
  CallbackTimers timers{[this] { return now; }};
  std::shared_ptr<ConnectionBackchannel> calls =
      std::make_shared<ConnectionBackchannel>(static_cast<Sender&>(*this), timers, 7, 1);
  std::vector<std::uint32_t> sent;  // XIDs
  std::vector<std::string> outcomes;
  std::function<void()> then;
  bool takes = true;

 private:
  bool send_callback(Bytes message) override {
    if (takes) sent.push_back(wire::load_u32(message.data()));
    return takes;
  }
  std::size_t largest_callback() const override { return 996; }
  std::size_t largest_callback_reply() const override { return 996; }
};

TEST_F(ConnectionBackchannelTest, NoMoreLeaveThanThePeerTakes) {
  for (int i = 0; i < 3; ++i) call();
  EXPECT_EQ(sent, (std::vector<std::uint32_t>{7}));
  calls->grant(2);
  EXPECT_EQ(sent, (std::vector<std::uint32_t>{7, 8}));
  EXPECT_TRUE(calls->take_reply(reply_to(8)));
  EXPECT_EQ(sent, (std::vector<std::uint32_t>{7, 8, 9}));
  EXPECT_EQ(outcomes, (std::vector<std::string>{"reply"}));
}

TEST_F(ConnectionBackchannelTest, AGrantOfZeroIsNoDeadlock) {
  calls->grant(0);
  call();
  EXPECT_EQ(sent.size(), 1U);
}

TEST_F(ConnectionBackchannelTest, UnmatchedRepliesAreNotTaken) {
  call();
  EXPECT_FALSE(calls->take_reply(reply_to(8)));
  EXPECT_FALSE(calls->take_reply(Bytes(3)));
  EXPECT_TRUE(calls->take_reply(reply_to(7)));
  EXPECT_FALSE(calls->take_reply(reply_to(7))) << "the second reply to one call";
  call();
  call();
  EXPECT_FALSE(calls->take_reply(reply_to(9))) << "a reply to a call that has not left";
}

TEST_F(ConnectionBackchannelTest, SilenceEndsAtItsLimit) {
  call();
  call();
  now += kCallbackTimeout - std::chrono::milliseconds(1);
  timers.run();
  EXPECT_TRUE(outcomes.empty());
  now += std::chrono::milliseconds(1);
  timers.run();
  EXPECT_EQ(outcomes, std::vector<std::string>(2, "a time limit passed: no reply to a callback"));
  EXPECT_FALSE(calls->take_reply(reply_to(7))) << "too late";
}

TEST_F(ConnectionBackchannelTest, UnsendableIsReportedOnceLater) {
  call(1000);
  EXPECT_TRUE(outcomes.empty()) << "from inside call";
  timers.run();
  timers.run();
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0],
            "larger than the provider's limit: a callback above what the connection takes");
  takes = false;
  call();
  timers.run();
  EXPECT_EQ(outcomes.size(), 2U);
}

TEST_F(ConnectionBackchannelTest, TheNumberThatWaitsIsBounded) {
  for (std::size_t i = 0; i < kMostCallbacks; ++i) call();
  timers.run();
  EXPECT_TRUE(outcomes.empty());
  call();
  timers.run();
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0], "too many operations are posted: callbacks that wait for their replies");
}

TEST_F(ConnectionBackchannelTest, TheEndOfTheConnectionEndsThemAll) {
  call();
  call();
  then = [this] { call(); };  // an owner that tries again
  calls->close();
  EXPECT_EQ(outcomes.size(), 2U);
  timers.run();
  EXPECT_EQ(outcomes.size(), 3U);
  EXPECT_EQ(calls->largest_call(), 0U);
}

TEST_F(ConnectionBackchannelTest, AnOwnerMayCallAgainFromItsAnswer) {
  call();
  then = [this] { call(); };
  EXPECT_TRUE(calls->take_reply(reply_to(7)));
  EXPECT_EQ(sent, (std::vector<std::uint32_t>{7, 8}));
}

}  // namespace
}  // namespace steertag::peer::testing
