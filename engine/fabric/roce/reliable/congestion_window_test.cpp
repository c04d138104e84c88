// The window's size as packets arrive and are lost.
#include "fabric/roce/reliable/congestion_window.h"

#include <gtest/gtest.h>

namespace steertag::fabric::roce {
namespace {

CongestionWindow window_of(std::uint32_t first, std::uint32_t most) {
  CongestionWindow window;
  window.start(first, most);
  return window;
}

TEST(CongestionWindow, GrowsByWhatArrivesUpToItsMost) {
  CongestionWindow window = window_of(32, 100);
  window.grow(32, true);
  EXPECT_EQ(window.packets(), 64U);
  window.grow(64, true);
  EXPECT_EQ(window.packets(), 100U);
}

TEST(CongestionWindow, DoesNotGrowWhileItDoesNotLimit) {
  CongestionWindow window = window_of(32, 100);
  window.grow(32, false);
  EXPECT_EQ(window.packets(), 32U);
}

TEST(CongestionWindow, IsHalvedAtALossAndThenGrowsByOneAWindow) {
  CongestionWindow window = window_of(32, 100);
  window.lose(0, false);
  EXPECT_EQ(window.packets(), 16U);
  window.grow(15, true);
  EXPECT_EQ(window.packets(), 16U);
  window.grow(1, true);
  EXPECT_EQ(window.packets(), 17U);
  window.grow(16, true);
  EXPECT_EQ(window.packets(), 17U);
}

TEST(CongestionWindow, IsHalvedOnceForThoseInFlight) {
  CongestionWindow window = window_of(32, 100);
  window.lose(20, false);
  window.grow(19, false);
  window.lose(16, false);
  EXPECT_EQ(window.packets(), 16U) << "one of the twenty has not arrived";
  window.grow(1, false);
  window.lose(16, false);
  EXPECT_EQ(window.packets(), 8U);
}

TEST(CongestionWindow, IsHalvedAtEachTimeOut) {
  CongestionWindow window = window_of(32, 100);
  window.lose(20, false);
  window.lose(20, true);
  EXPECT_EQ(window.packets(), 8U);
}

TEST(CongestionWindow, GrowthAfterALossEndsAtItsMost) {
  CongestionWindow window = window_of(4, 4);
  window.lose(0, false);
  for (int i = 0; i < 100; ++i) window.grow(4, true);
  EXPECT_EQ(window.packets(), 4U);
}

TEST(CongestionWindow, KeepsTwoPacketsHoweverManyAreLost) {
  CongestionWindow window = window_of(32, 100);
  for (int i = 0; i < 10; ++i) window.lose(1, true);
  EXPECT_EQ(window.packets(), 2U);
  window = window_of(1, 1);
  window.lose(0, false);
  EXPECT_EQ(window.packets(), 1U) << "it may have no more";
}

TEST(CongestionWindow, HasOnePacketAtLeast) {
  EXPECT_EQ(window_of(32, 0).packets(), 1U);
  EXPECT_EQ(window_of(0, 32).packets(), 1U);
}

}  // namespace
}  // namespace steertag::fabric::roce
