// Which identification a peer's packet may have after others.
#include "fabric/roce/network/identification_order.h"

#include <gtest/gtest.h>

#include <vector>

namespace steertag::fabric::roce {
namespace {

using Identifications = std::vector<std::uint16_t>;

constexpr Time kMs = 1'000'000;

TEST(IdentificationOrder, TheFirstMayBeAny) {
  EXPECT_TRUE(IdentificationOrder().takes(36843, 0));
}

TEST(IdentificationOrder, PlacesInARunAreTakenAndNothingElse) {
  IdentificationOrder order;
  for (const std::uint16_t place : Identifications{0, 1, 63, 0, 0, 5}) {
    EXPECT_TRUE(order.takes(place, 0)) << place;
  }
  EXPECT_FALSE(order.takes(36843, 0));
  EXPECT_TRUE(order.takes(0, 0));
  EXPECT_FALSE(order.takes(128, 0));
}

TEST(IdentificationOrder, ACounterGoesOn) {
  IdentificationOrder order;
  for (const std::uint16_t identification :
       Identifications{65000, 65001, 65250, 65249, 65500, 40, 200, 201}) {
    EXPECT_TRUE(order.takes(identification, 0)) << identification;
  }
  EXPECT_FALSE(order.takes(500, 0)) << "too far";
  EXPECT_FALSE(order.takes(500, 0)) << "doubled by the network";
  EXPECT_TRUE(order.takes(202, 0));
}

TEST(IdentificationOrder, LinuxSkipsTheTicksOfARest) {
  IdentificationOrder order;
  EXPECT_TRUE(order.takes(1000, 0));
  EXPECT_FALSE(order.takes(3000, 1000 * kMs));
  EXPECT_TRUE(order.takes(2200, 1000 * kMs));
  EXPECT_TRUE(order.takes(50000, 60000 * kMs));
}

TEST(IdentificationOrder, TwoThatDoNotFitEndIt) {
  IdentificationOrder order;
  EXPECT_TRUE(order.takes(1000, 0));
  EXPECT_FALSE(order.takes(20000, 0));
  EXPECT_TRUE(order.takes(9000, 0));
  EXPECT_TRUE(order.takes(60000, 0));
  EXPECT_TRUE(order.takes(30000, 0));
}

}  // namespace
}  // namespace steertag::fabric::roce
