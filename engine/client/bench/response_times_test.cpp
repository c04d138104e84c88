// Quantiles of response times, and how exact they are.
#include "client/bench/response_times.h"

#include <gtest/gtest.h>

namespace steertag::peer::testing {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;

TEST(ResponseTimes, NoCallHasNoTime) {
  EXPECT_EQ(ResponseTimes().quantile(0.5).count(), 0);
}

TEST(ResponseTimes, QuantilesAreThoseOfTheSortedTimes) {
  ResponseTimes times;
  for (std::int64_t i = 100; i >= 1; --i) times.add(nanoseconds(i));
  EXPECT_EQ(times.count(), 100U);
  EXPECT_EQ(times.quantile(0).count(), 1);
  EXPECT_EQ(times.quantile(0.5).count(), 50);
  EXPECT_EQ(times.quantile(0.99).count(), 99);
  EXPECT_EQ(times.quantile(1).count(), 100);
}

TEST(ResponseTimes, EachTimeIsAtMostOne64thTooLong) {
  for (std::int64_t time = 1; time < std::int64_t{1} << 41; time += 1 + time / 37) {
    ResponseTimes times;
    times.add(nanoseconds(time));
    const std::int64_t found = times.quantile(0.5).count();
    ASSERT_GE(found, time);
    ASSERT_LE(found - time, time / 64) << time << " ns";
  }
}

TEST(ResponseTimes, TimesWithoutMeaningAreKeptInTheFirstAndLastClass) {
  ResponseTimes times;
  times.add(nanoseconds(-1));
  times.add(hours(1000));
  EXPECT_EQ(times.quantile(0.5).count(), 0);
  EXPECT_GT(times.quantile(1), hours(1));
}

}  // namespace
}  // namespace steertag::peer::testing
