// The variable of faults: its values, and what a provider makes of it.
#include "fabric/roce/network/fault_setting.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "fabric/fabric.h"

namespace steertag::fabric::roce {
namespace {

/// The variable has this value while it lives.
class Variable {
 public:
  explicit Variable(const char* value) { ::setenv(kFaultVariable, value, 1); }
  ~Variable() { ::unsetenv(kFaultVariable); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
};

TEST(RoceFaultSetting, IsAPercentageWithOrWithoutASeed) {
  const auto alone = parse_fault_setting("5");
  ASSERT_TRUE(alone) << alone.error().message();
  EXPECT_EQ(alone->percent, 5U);
  EXPECT_FALSE(alone->seed);
  const auto seeded = parse_fault_setting("25:18446744073709551615");
  ASSERT_TRUE(seeded) << seeded.error().message();
  EXPECT_EQ(seeded->percent, 25U);
  EXPECT_EQ(seeded->seed, ~std::uint64_t{0});
}

TEST(RoceFaultSetting, OtherTextsAreOneError) {
  for (const char* text :
       {"0", "26", "-1", "5%", " 5", "5:", ":5", "5:x", "5:1:2", "99999999999", "five"}) {
    const auto setting = parse_fault_setting(text);
    ASSERT_FALSE(setting) << text;
    EXPECT_EQ(setting.error().message(), "the provider cannot do this: STEERTAG_ROCE_FAULTS is \"" +
                                             std::string(text) +
                                             "\" and not PERCENT[:SEED], from 1 to 25");
  }
}

TEST(RoceFaultSetting, AProviderOverFaultsBendsNoPackets) {
  const Variable variable("5:1");
  const auto provider = make_provider("roce", system_random());
  ASSERT_TRUE(provider) << provider.error().message();
  EXPECT_FALSE((*provider)->capabilities().bent_packets) << "faults alter bent packets again";
  EXPECT_TRUE((*provider)->capabilities().sees_remote_operations);
}

TEST(RoceFaultSetting, WithoutAValueThereAreNoFaults) {
  const Variable variable("");
  const auto provider = make_provider("roce", system_random());
  ASSERT_TRUE(provider) << provider.error().message();
  EXPECT_TRUE((*provider)->capabilities().bent_packets);
}

TEST(RoceFaultSetting, ABadValueIsAnErrorOfTheProvider) {
  const Variable variable("much");
  const auto provider = make_provider("roce", system_random());
  ASSERT_FALSE(provider);
  EXPECT_EQ(provider.error().code, Errc::unsupported);
  const auto other = make_provider("iwarp", system_random());
  EXPECT_TRUE(other) << "iwarp has no such faults: " << other.error().message();
}

}  // namespace
}  // namespace steertag::fabric::roce
