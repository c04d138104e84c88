// The choice of a provider by name.
#include <gtest/gtest.h>

#include "fabric/fabric.h"
#include "net/testing/descriptors.h"

namespace steertag::fabric {
namespace {

TEST(Provider, UnknownNameIsAnError) {
  const auto provider = make_provider("carrier-pigeon", system_random());
  ASSERT_FALSE(provider);
  EXPECT_EQ(provider.error().code, Errc::unknown_provider);
  EXPECT_EQ(provider.error().message(), "there is no provider of that name: \"carrier-pigeon\"");
}

TEST(Provider, WithoutDescriptorsIsAnError) {
  const net::testing::NoFurtherDescriptors none;
  const auto provider = make_provider("iwarp", [] { return 1U; });
  ASSERT_FALSE(provider);
  EXPECT_EQ(provider.error().code, Errc::no_device);
}

}  // namespace
}  // namespace steertag::fabric
