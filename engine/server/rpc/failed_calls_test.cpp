// Failed calls are remembered for their retry only, and not for ever.
#include "server/rpc/failed_calls.h"

#include <gtest/gtest.h>

#include "endpoint/limits.h"

namespace steertag::peer::testing {
namespace {

CallId call(std::uint32_t xid) {
  return CallId::of(xid, {});
}

class FailedCallsTest : public ::testing::Test {
 protected:
  std::chrono::steady_clock::time_point now;
  FailedCalls calls{[this] { return now; }};
};

TEST_F(FailedCallsTest, CertainOneIsRefusedOnce) {
  calls.remember("host", call(7), true);
  EXPECT_FALSE(calls.take("other", call(7)));
  EXPECT_FALSE(calls.take("host", call(8)));
  EXPECT_TRUE(calls.take("host", call(7)));
  EXPECT_FALSE(calls.take("host", call(7))) << "the XID is reused";
}

TEST_F(FailedCallsTest, AnotherCallOfTheSameXidIsNoRetry) {
  const Bytes read(8, std::byte{6}), write(8, std::byte{7});
  calls.remember("host", CallId::of(7, read), true);
  EXPECT_FALSE(calls.take("host", CallId::of(7, write)));
  EXPECT_TRUE(calls.take("host", CallId::of(7, read)));
}

TEST_F(FailedCallsTest, SuspectIsRefusedAfterASecondLoss) {
  calls.remember("host", call(7), false);
  EXPECT_FALSE(calls.take("host", call(7)));
  calls.remember("host", call(7), false);
  EXPECT_TRUE(calls.take("host", call(7)));
}

TEST_F(FailedCallsTest, TheyExpire) {
  calls.remember("host", call(7), true);
  calls.remember("host", call(8), false);
  now += kFailedCallLifetime;
  EXPECT_FALSE(calls.take("host", call(7)));
  calls.remember("host", call(8), false);
  EXPECT_FALSE(calls.take("host", call(8))) << "the first loss was too long ago to count";
}

TEST_F(FailedCallsTest, OldestMakeRoom) {
  for (std::uint32_t xid = 0; xid <= kMostFailedCalls; ++xid)
    calls.remember("host", call(xid), true);
  EXPECT_FALSE(calls.take("host", call(0)));
  EXPECT_TRUE(calls.take("host", call(1)));
  EXPECT_TRUE(calls.take("host", call(kMostFailedCalls)));
}

}  // namespace
}  // namespace steertag::peer::testing
