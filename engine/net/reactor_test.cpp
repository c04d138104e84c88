// The event loop: system errors, deadlines, and limits.
#include "net/reactor.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <functional>

#include "net/testing/descriptors.h"

namespace steertag::net {
namespace {

using net::testing::NoFurtherDescriptors;

constexpr std::chrono::milliseconds kNoWait{0};

class Alarm final : public Channel {
 public:
  void on_ready(std::uint32_t /*events*/) override {}
  void on_deadline() override {
    ++fired;
    if (then) {
      then();
    }
  }
  int fired = 0;
  std::function<void()> then;
};

class ReactorTest : public ::testing::Test {
 protected:
  Reactor::Key add(Alarm& channel, Time deadline) {
    descriptors.emplace_back(::eventfd(0, EFD_NONBLOCK));
    const auto key = reactor.add(channel, descriptors.back().fd(), EPOLLIN);
    EXPECT_TRUE(key);
    reactor.set_deadline(*key, deadline);
    return *key;
  }
  void turn_at(Time time) {
    *now = time;
    reactor.poll(kNoWait);
  }
  std::shared_ptr<Time> now = std::make_shared<Time>(1);
  Reactor reactor = *Reactor::open([at = now] { return *at; });
  std::vector<Socket> descriptors;
  Alarm alarm;
};

TEST(ReactorOpen, FailsWithoutDescriptors) {
  const NoFurtherDescriptors none;
  const auto reactor = Reactor::open(system_clock());
  ASSERT_FALSE(reactor);
  EXPECT_EQ(reactor.error().code, Errc::no_device);
  EXPECT_EQ(reactor.error().message(), "the provider has no device: epoll: " + error_text(EMFILE));
}

TEST_F(ReactorTest, ChannelWithoutADescriptorHasDeadlines) {
  // UBSan needs this rehearsal.
  const Reactor::Key rehearsed = reactor.add(alarm);
  reactor.set_deadline(rehearsed, 2);
  turn_at(2);
  reactor.remove(rehearsed);
  alarm.fired = 0;
  const NoFurtherDescriptors none;
  const Reactor::Key key = reactor.add(alarm);
  reactor.set_deadline(key, 5);
  turn_at(4);
  EXPECT_EQ(alarm.fired, 0);
  turn_at(5);
  EXPECT_EQ(alarm.fired, 1);
  reactor.set_deadline(key, 6);
  reactor.remove(key);
  turn_at(7);
  EXPECT_EQ(alarm.fired, 1);
}

TEST_F(ReactorTest, DescriptorThatCannotBeWatchedIsAnError) {
  const auto key = reactor.add(alarm, -1, EPOLLIN);
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().code, Errc::no_device);
}

TEST_F(ReactorTest, FiresADeadlineOnceWhenItsTimeHasCome) {
  add(alarm, 10);
  turn_at(9);
  EXPECT_EQ(alarm.fired, 0);
  turn_at(10);
  turn_at(11);
  EXPECT_EQ(alarm.fired, 1);
}

TEST_F(ReactorTest, OnlyTheLastDeadlineCounts) {
  const Reactor::Key key = add(alarm, 10);
  reactor.set_deadline(key, 5);
  reactor.set_deadline(key, 20);
  turn_at(19);
  EXPECT_EQ(alarm.fired, 0);
  turn_at(20);
  EXPECT_EQ(alarm.fired, 1);
}

TEST_F(ReactorTest, DeadlineAlwaysInThePastFiresOnceARound) {
  Alarm other;
  const Reactor::Key key = add(alarm, 10);
  add(other, 11);
  alarm.then = [&] {
    ASSERT_LT(alarm.fired, 100) << "the round does not end";
    reactor.set_deadline(key, 10);
  };
  turn_at(20);
  EXPECT_EQ(alarm.fired, 1);
  EXPECT_EQ(other.fired, 1);
  turn_at(20);
  EXPECT_EQ(alarm.fired, 2);
}

TEST_F(ReactorTest, ChannelMayRemoveOneWhoseDeadlineHasPassedToo) {
  Alarm other;
  add(alarm, 10);
  const Reactor::Key key = add(other, 11);
  alarm.then = [&] { reactor.remove(key); };
  turn_at(20);
  EXPECT_EQ(other.fired, 0);
}

TEST_F(ReactorTest, ChannelsThatCameAndWentLeaveNoDeadlines) {
  add(alarm, 1000);
  Alarm brief;
  for (Time i = 0; i < 1000; ++i) {
    reactor.remove(add(brief, 2000 + i));
    descriptors.pop_back();
    ASSERT_LE(reactor.deadlines_kept(), 2U) << "after " << i;
  }
  turn_at(5000);
  EXPECT_EQ(alarm.fired, 1);
  EXPECT_EQ(brief.fired, 0);
}

TEST_F(ReactorTest, DeadlinesThatComeNearerLeaveNoneBehind) {
  const Reactor::Key key = add(alarm, 5000);
  for (Time i = 0; i < 1000; ++i) {
    reactor.set_deadline(key, 4000 - i);
    ASSERT_LE(reactor.deadlines_kept(), 2U) << "after " << i;
  }
  turn_at(3001);
  EXPECT_EQ(alarm.fired, 1);
}

}  // namespace
}  // namespace steertag::net
