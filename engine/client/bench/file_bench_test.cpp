// What the bench counts, and when it ends, by a clock that only the calls move.
#include "client/bench/file_bench.h"

#include "client/testing/fake_files.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

using std::chrono::milliseconds;

/// Each answer takes a millisecond. The processor works 100 us of it for the user, and 200 us for
/// the system.
class TimedFiles final : public FakeFiles {
 public:
  void step(milliseconds timeout) override {
    now += 1ms;
    FakeFiles::step(timeout);
  }
  std::chrono::steady_clock::time_point now{};
};

class FileBenchTest : public ::testing::Test {
 protected:
  FileBench bench(std::uint64_t size) {
    return {files, 1, size, [this] { return files.now; },
            [this] {
              const auto steps = files.now.time_since_epoch() / 1ms;
              return ProcessorTime{steps * 100us, steps * 200us};
            }};
  }
  static Measurement reads(std::uint32_t calls, milliseconds duration) {
    Measurement what;
    what.io_bytes = 1000;
    what.calls = calls;
    what.duration = duration;
    return what;
  }
  TimedFiles files;
};

TEST_F(FileBenchTest, CountsCallsOctetsAndTimes) {
  files.content = pattern(10'000);
  const auto measured = bench(10'000).measure(reads(1, 20ms));
  ASSERT_TRUE(measured) << measured.error().message();
  EXPECT_EQ(measured->calls, 20U);
  EXPECT_EQ(measured->bytes, 20'000U) << "the file is read twice";
  EXPECT_EQ(measured->elapsed, 20ms);
  EXPECT_EQ(measured->processor.user, 20 * 100us);
  EXPECT_EQ(measured->processor.system, 20 * 200us);
  EXPECT_EQ(measured->times.count(), 20U);
  EXPECT_NEAR(static_cast<double>(measured->times.quantile(0.5).count()), 1e6, 1e6 / 64);
}

TEST_F(FileBenchTest, KeepsSoManyCallsUnderWay) {
  files.content = pattern(10'000);
  const auto measured = bench(10'000).measure(reads(4, 20ms));
  ASSERT_TRUE(measured) << measured.error().message();
  EXPECT_EQ(measured->calls, 23U) << "three are still under way when the time has passed";
  EXPECT_NEAR(static_cast<double>(measured->times.quantile(0.5).count()), 4e6, 4e6 / 64);
}

TEST_F(FileBenchTest, TheLastReadOfAFileIsShort) {
  files.content = pattern(1500);
  const auto measured = bench(1500).measure(reads(1, 4ms));
  ASSERT_TRUE(measured) << measured.error().message();
  EXPECT_EQ(files.counts, (std::vector<std::uint32_t>{1000, 500, 1000, 500}));
  EXPECT_EQ(measured->bytes, 3000U);
}

TEST_F(FileBenchTest, CallsBeginAtThePlacesThatAreChosen) {
  files.content = pattern(10'000);
  Measurement what = reads(1, 3ms);
  what.place = [place = std::uint64_t{0}]() mutable {
    place = (place + 9500) % 10'000;
    return place;
  };
  const auto measured = bench(10'000).measure(what);
  ASSERT_TRUE(measured) << measured.error().message();
  EXPECT_EQ(files.counts, (std::vector<std::uint32_t>{500, 1000, 1000})) << "9500, 9000, 8500";
}

TEST_F(FileBenchTest, GoesOnUntilEnoughCallsHaveEnded) {
  files.content = pattern(10'000);
  Measurement what = reads(1, 10ms);
  what.least_calls = 50;
  EXPECT_EQ(bench(10'000).measure(what)->calls, 50U);
  what.least_calls = 1000;
  EXPECT_EQ(bench(10'000).measure(what)->calls, 100U) << "kMostExtension times 10 ms";
}

TEST_F(FileBenchTest, WritesEndWithOneCommit) {
  Measurement what = reads(2, 10ms);
  what.operation = BenchOperation::write;
  const auto measured = bench(10'000).measure(what);
  ASSERT_TRUE(measured) << measured.error().message();
  EXPECT_EQ(files.commits, 1U);
  EXPECT_EQ(files.stabilities.back(), Stability::unstable);
  EXPECT_EQ(measured->elapsed, 12ms) << "the COMMIT's time counts";
  what.operation = BenchOperation::write_sync;
  ASSERT_TRUE(bench(10'000).measure(what));
  EXPECT_EQ(files.commits, 1U);
  EXPECT_EQ(files.stabilities.back(), Stability::file_sync);
}

TEST_F(FileBenchTest, MeasuredWritesLeaveTheContentThatWasFilledIn) {
  FileBench made = bench(200'000);
  ASSERT_TRUE(made.fill());
  Measurement what = reads(3, 300ms);
  what.operation = BenchOperation::write;
  what.io_bytes = 777;
  files.write_bytes = 777;
  ASSERT_TRUE(made.measure(what));
  EXPECT_TRUE(made.compare());
  files.content[150'000] ^= std::byte{1};
  const auto compared = made.compare();
  ASSERT_FALSE(compared);
  EXPECT_EQ(compared.error().code, FileErrc::changed);
}

TEST_F(FileBenchTest, AFileThatBecameShorterEndsTheMeasurement) {
  files.content = pattern(10'000);
  FileBench made = bench(20'000);
  const auto measured = made.measure(reads(4, 100ms));
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, FileErrc::changed);
}

TEST_F(FileBenchTest, MoreThanTheServerTakesAtATimeIsAnError) {
  files.content = pattern(10'000);
  Measurement what = reads(1, 10ms);
  what.io_bytes = 1001;
  const auto measured = bench(10'000).measure(what);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, FileErrc::too_long);
}

}  // namespace
}  // namespace steertag::peer::testing
