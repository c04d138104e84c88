// Replies that wait, and what lets them go.
#include "server/rpc/reply_gate.h"

#include <gtest/gtest.h>

#include <set>

namespace steertag::peer {
namespace {

struct Gate final : ReplyGate {
  bool passed(std::uint64_t ticket) const override { return !closed.contains(ticket); }
  std::set<std::uint64_t> closed;
};

struct HeldRepliesTest : ::testing::Test {
  void hold(std::uint64_t owner, Tickets tickets, int number) {
    held.hold(owner, std::move(tickets), [this, number] { left.push_back(number); });
  }
  Gate gate;
  HeldReplies held{&gate};
  std::vector<int> left;
};

TEST_F(HeldRepliesTest, LeaveWhenAllTheirTicketsHavePassed) {
  gate.closed = {1, 2};
  EXPECT_FALSE(held.must_wait(Tickets{}));
  EXPECT_FALSE(held.must_wait(Tickets{3}));
  EXPECT_TRUE(held.must_wait(Tickets{3, 2}));
  hold(7, {1, 2}, 1);
  hold(7, {2}, 2);
  held.release();
  EXPECT_TRUE(left.empty());
  gate.closed = {1};
  held.release();
  EXPECT_EQ(left, std::vector{2});
  gate.closed.clear();
  held.release();
  EXPECT_EQ(left, (std::vector{2, 1}));
}

TEST_F(HeldRepliesTest, AreForgottenWithTheirConnection) {
  gate.closed = {1};
  hold(7, {1}, 1);
  hold(8, {1}, 2);
  held.forget(7);
  gate.closed.clear();
  held.release();
  EXPECT_EQ(left, std::vector{2});
}

TEST(HeldReplies, WithoutAGateNothingWaits) {
  EXPECT_FALSE(HeldReplies(nullptr).must_wait(Tickets{1}));
}

}  // namespace
}  // namespace steertag::peer
