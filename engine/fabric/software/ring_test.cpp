// The queue with reused slots: order across growth, and memory.
#include "fabric/software/ring.h"

#include <gtest/gtest.h>

namespace steertag::fabric::software {
namespace {

TEST(Ring, KeepsOrderAndSequenceWhileItGrows) {
  Ring<int> ring;
  for (int i = 0; i < 3; ++i) {
    ring.push() = i;
    ring.pop();
  }
  for (int i = 3; i < 100; ++i) {
    ring.push() = i;
  }
  EXPECT_EQ(ring.first(), 3U);
  for (int i = 3; i < 100; ++i) {
    EXPECT_EQ(ring.at(static_cast<std::uint64_t>(i)), i);
    EXPECT_EQ(ring.front(), i);
    ring.pop();
  }
  EXPECT_TRUE(ring.empty());
}

TEST(Ring, GivesTheRoomOfABurstBackWhenItIsEmpty) {
  Ring<int> ring;
  for (int i = 0; i < 10000; ++i) {
    ring.push() = i;
  }
  for (int i = 0; i < 9999; ++i) {
    ring.pop();
  }
  EXPECT_EQ(ring.front(), 9999);
  ring.pop();
  EXPECT_LE(ring.slots(), kMostIdleSlots);
  ring.push() = 7;
  EXPECT_EQ(ring.first(), 10000U);
  EXPECT_EQ(ring.front(), 7);
}

TEST(Ring, KeepsTheSlotsOfSteadyWork) {
  Ring<int> ring;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < kMostIdleSlots; ++i) {
      ring.push();
    }
    while (!ring.empty()) {
      ring.pop();
    }
    EXPECT_EQ(ring.slots(), kMostIdleSlots);
  }
}

}  // namespace
}  // namespace steertag::fabric::software
