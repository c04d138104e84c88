// Options that no server can have are refused in one sentence.
#include "server/server_options.h"

#include <gtest/gtest.h>

#include <limits>

namespace steertag::peer::testing {
namespace {

using namespace std::chrono_literals;

ServerOptions with(std::uint32_t credits, std::uint32_t bytes) {
  ServerOptions options;
  options.credits = credits;
  options.announced = {true, bytes, bytes};
  return options;
}

TEST(ServerOptionsTest, DefaultsAndExtremesArePossible) {
  EXPECT_TRUE(check({}));
  EXPECT_TRUE(check(with(1, 1024)));
  EXPECT_TRUE(check(with(kMostCredits, 16384)));
  EXPECT_TRUE(check(with(kDefaultCredits, 262144)));
}

TEST(ServerOptionsTest, WhatCannotBeAnnouncedOrPostedIsRefused) {
  for (const ServerOptions& options :
       {with(0, 4096), with(kMostCredits + 1, 4096), with(32, 0), with(32, 1025), with(32, 263168),
        with(kMostCredits, 262144)}) {
    const auto possible = check(options);
    ASSERT_FALSE(possible) << options.credits << " credits, " << options.announced.receive_bytes;
    EXPECT_EQ(possible.error().find('\n'), std::string::npos);
  }
}

TEST(ServerOptionsTest, SharedReceivesHaveLimits) {
  const auto sharing = [](std::uint32_t receives, std::uint32_t bytes) {
    ServerOptions options = with(32, bytes);
    options.shared_receives = receives;
    return check(options).has_value();
  };
  EXPECT_TRUE(sharing(1, 262144)) << "fewer than the credits of one connection";
  EXPECT_TRUE(sharing(kMostSharedReceives, 4096));
  EXPECT_FALSE(sharing(kMostSharedReceives + 1, 1024));
  EXPECT_FALSE(sharing(kMostSharedReceives, 5120)) << "more than 64 MiB";
}

TEST(ServerOptionsTest, IdleTimeoutsAreRoundedUp) {
  EXPECT_EQ(idle_timeout_of(0), 0ms);
  EXPECT_EQ(idle_timeout_of(0.0009), 1ms) << "it would mean: never";
  EXPECT_EQ(idle_timeout_of(300), 300s);
  for (const double seconds : {-1.0, 86401.0, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()})
    EXPECT_FALSE(idle_timeout_of(seconds)) << seconds;
}

}  // namespace
}  // namespace steertag::peer::testing
