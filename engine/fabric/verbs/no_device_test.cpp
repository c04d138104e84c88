// A machine without an RDMA device: one clear error, and no output.
#include <gtest/gtest.h>

#include "fabric/fabric.h"

namespace steertag::fabric {
namespace {

TEST(VerbsWithoutADevice, IsOneClearError) {
  ::testing::internal::CaptureStderr();
  const auto provider = make_provider("verbs", system_random());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  if (provider) {
    GTEST_SKIP() << "this machine has a device";
  }
  EXPECT_EQ(provider.error().code, Errc::no_device);
  const std::string message = provider.error().message();
  EXPECT_NE(message.find("no RDMA device: "), std::string::npos) << message;
  EXPECT_NE(message.find("use iwarp://"), std::string::npos) << message;
}

}  // namespace
}  // namespace steertag::fabric
