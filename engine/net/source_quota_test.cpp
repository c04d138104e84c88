// What is refused, by source and at random, and which refusals are worth a line.
#include "net/source_quota.h"

#include <gtest/gtest.h>

#include <vector>

namespace steertag::net {
namespace {

Address address(const std::string& host) {
  const auto addresses = resolve({"tcp", host, 2049, ""}, false);
  EXPECT_TRUE(addresses) << host << " is no address";
  return addresses ? addresses->front() : Address{};
}

class SourceQuotaTest : public ::testing::Test {
 protected:
  using Outcome = Expected<SourceQuota::Slot, SourceQuota::Refusal>;

  Outcome admit(const std::string& host) { return quota.admit(address(host)); }
  /// Takes `count` for a host; returns how many are refused.
  std::size_t take(const std::string& host, std::size_t count) {
    std::size_t refused = 0;
    for (std::size_t i = 0; i < count; ++i) {
      auto slot = admit(host);
      slot ? slots.push_back(std::move(*slot)) : void(++refused);
    }
    return refused;
  }

  SourceLimits limits{12, 4, 8};
  std::uint64_t drawn = 0;  // what the random source gives
  std::size_t draws = 0;
  SourceQuota quota{limits, [this] { return ++draws, drawn; }};
  std::vector<SourceQuota::Slot> slots;
};

TEST_F(SourceQuotaTest, ASourceHasItsShareAndLeavesTheRestToOthers) {
  EXPECT_EQ(take("192.0.2.1", 10), 6U);
  EXPECT_EQ(take("192.0.2.2", 4), 0U);
  EXPECT_EQ(quota.held(), 8U);
  EXPECT_EQ(draws, 0U) << "a choice was left to chance below the mark";
  slots.clear();
  EXPECT_EQ(quota.held(), 0U);
  EXPECT_EQ(take("192.0.2.1", 4), 0U) << "what ended still counts";
}

TEST_F(SourceQuotaTest, AnIpv6NetworkIsOneSource) {
  EXPECT_EQ(take("2001:db8::1", 2) + take("2001:db8::2", 2), 0U);
  const auto fifth = admit("2001:db8::3");
  ASSERT_FALSE(fifth);
  EXPECT_EQ(fifth.error().reason, "2001:db8::/64 has 4, as many as one source may have");
}

TEST_F(SourceQuotaTest, BeyondTheMarkChanceDecides) {
  take("192.0.2.1", 4);
  take("192.0.2.2", 4);
  EXPECT_EQ(take("192.0.2.3", 1), 0U) << "refused at the mark, with " << draws << " draws";
  // One of the four places beyond the mark is taken: a quarter of the draws refuse.
  std::string refused;
  for (drawn = 0; drawn < 8; ++drawn) refused += admit("192.0.2.4") ? '-' : 'x';
  EXPECT_EQ(refused, "x---x---");
  drawn = 1;
  take("192.0.2.3", 1);
  for (refused.clear(), drawn = 0; drawn < 8; ++drawn) refused += admit("192.0.2.4") ? '-' : 'x';
  EXPECT_EQ(refused, "xx--xx--");
}

TEST_F(SourceQuotaTest, AtTheLimitAllAreRefused) {
  drawn = 3;  // the draw that refuses least
  for (const char* host : {"192.0.2.1", "192.0.2.2", "192.0.2.3"}) EXPECT_EQ(take(host, 4), 0U);
  const auto thirteenth = admit("192.0.2.4");
  ASSERT_FALSE(thirteenth);
  EXPECT_EQ(thirteenth.error().reason,
            "all sources have 12; from 8 on some are refused at random, and from 12 on all");
}

TEST_F(SourceQuotaTest, NothingIsLeftToChanceWhereTheMarkIsTheLimit) {
  SourceQuota even({6, 4, 6}, [this] { return ++draws, drawn; });
  std::vector<SourceQuota::Slot> held;
  for (const char* host : {"192.0.2.1", "192.0.2.2", "192.0.2.3"}) {
    for (int i = 0; i < 2; ++i) held.push_back(std::move(*even.admit(address(host))));
  }
  const auto seventh = even.admit(address("192.0.2.4"));
  ASSERT_FALSE(seventh);
  EXPECT_EQ(seventh.error().reason, "all sources have 6, as many as they may have together");
  EXPECT_EQ(draws, 0U);
}

TEST_F(SourceQuotaTest, OneRefusalBeginsABurstAndHalfOfTheShareEndsIt) {
  take("192.0.2.1", 4);
  EXPECT_TRUE(admit("192.0.2.1").error().begins_burst);
  EXPECT_FALSE(admit("192.0.2.1").error().begins_burst);
  slots.pop_back();
  take("192.0.2.1", 1);
  EXPECT_FALSE(admit("192.0.2.1").error().begins_burst) << "three of four are no end of the burst";
  slots.resize(2);
  take("192.0.2.1", 2);
  EXPECT_TRUE(admit("192.0.2.1").error().begins_burst) << "half of the share was free between";
}

TEST_F(SourceQuotaTest, EverySourceHasItsOwnBursts) {
  take("192.0.2.1", 4);
  take("192.0.2.2", 4);
  EXPECT_TRUE(admit("192.0.2.1").error().begins_burst);
  EXPECT_TRUE(admit("192.0.2.2").error().begins_burst);
}

}  // namespace
}  // namespace steertag::net
