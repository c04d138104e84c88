// Failed calls are remembered for their retry only, and not for ever.
#include "server/rpc/failed_calls.h"

#include <gtest/gtest.h>

#include "endpoint/limits.h"

namespace steertag::peer::testing {
namespace {

class FailedCallsTest : public ::testing::Test {
 protected:
  std::chrono::steady_clock::time_point now;
  FailedCalls calls{[this] { return now; }};
};

TEST_F(FailedCallsTest, CertainOneIsRefusedOnce) {
  calls.remember("host", 7, true);
  EXPECT_FALSE(calls.take("other", 7));
  EXPECT_FALSE(calls.take("host", 8));
  EXPECT_TRUE(calls.take("host", 7));
  EXPECT_FALSE(calls.take("host", 7)) << "the XID has come again since";
}

TEST_F(FailedCallsTest, SuspectIsRefusedAfterASecondLoss) {
  calls.remember("host", 7, false);
  EXPECT_FALSE(calls.take("host", 7));
  calls.remember("host", 7, false);
  EXPECT_TRUE(calls.take("host", 7));
}

TEST_F(FailedCallsTest, TheyExpire) {
  calls.remember("host", 7, true);
  calls.remember("host", 8, false);
  now += kFailedCallLifetime;
  EXPECT_FALSE(calls.take("host", 7));
  calls.remember("host", 8, false);
  EXPECT_FALSE(calls.take("host", 8)) << "the first loss was too long ago to count";
}

TEST_F(FailedCallsTest, OldestMakeRoom) {
  for (std::uint32_t xid = 0; xid <= kMostFailedCalls; ++xid) calls.remember("host", xid, true);
  EXPECT_FALSE(calls.take("host", 0));
  EXPECT_TRUE(calls.take("host", 1));
  EXPECT_TRUE(calls.take("host", kMostFailedCalls));
}

}  // namespace
}  // namespace steertag::peer::testing
