// Which pollables of several are polled.
#include "net/pollable.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

namespace steertag::net {
namespace {

using std::chrono::milliseconds;

/// Counts its polls. Each takes what has happened.
class CountedPollable final : public Pollable {
 public:
  CountedPollable() : descriptor_(::eventfd(0, EFD_NONBLOCK)) {}
  ~CountedPollable() override { ::close(descriptor_); }
  CountedPollable(const CountedPollable&) = delete;
  CountedPollable& operator=(const CountedPollable&) = delete;

  std::size_t poll(milliseconds) override {
    ++polls;
    eventfd_t events = 0;
    return ::eventfd_read(descriptor_, &events) == 0 ? 1 : 0;
  }
  void wake() override { ::eventfd_write(descriptor_, 1); }
  int descriptor() const override { return descriptor_; }
  milliseconds idle_for(milliseconds most) override { return std::min(most, idle); }

  int polls = 0;
  milliseconds idle = milliseconds::max();

 private:
  int descriptor_;
};

class PollAllTest : public ::testing::Test {
 protected:
  std::size_t poll(milliseconds timeout) { return poll_all(all, timeout); }

  CountedPollable first;
  CountedPollable second;
  Pollable* all[2] = {&first, &second};
};

TEST_F(PollAllTest, OnlyTheReadableOneIsPolled) {
  second.wake();
  EXPECT_EQ(poll(milliseconds{10'000}), 1U);
  EXPECT_EQ(first.polls, 0);
  EXPECT_EQ(second.polls, 1);
}

TEST_F(PollAllTest, OneWithWorkLeftIsPolledBesideAReadableOne) {
  second.wake();
  first.idle = milliseconds{0};
  EXPECT_EQ(poll(milliseconds{10'000}), 1U);
  EXPECT_EQ(first.polls, 1);
}

TEST_F(PollAllTest, AfterTheTimeoutAllArePolled) {
  first.idle = milliseconds{1};
  EXPECT_EQ(poll(milliseconds{10'000}), 0U);
  EXPECT_EQ(first.polls, 1);
  EXPECT_EQ(second.polls, 1);
}

}  // namespace
}  // namespace steertag::net
