// What a cache of whole files answers, and what is read, by a clock that only the READs move.
#include "client/bench/small_files_bench.h"

#include "client/testing/fake_files.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kSmall = 1000;
constexpr RemoteFile kFiles = 100;

/// Each answer takes a millisecond.
class SmallFiles final : public FakeFiles {
 public:
  SmallFiles() { content = pattern(kSmall); }
  void read(RemoteFile file, std::uint64_t offset, std::uint32_t count, ReadDone done) override {
    wanted.push_back(file);
    FakeFiles::read(file, offset, count, std::move(done));
  }
  void step(milliseconds timeout) override {
    now += 1ms;
    FakeFiles::step(timeout);
  }
  std::vector<RemoteFile> wanted;
  std::chrono::steady_clock::time_point now{};
};

class SmallFilesBenchTest : public ::testing::Test {
 protected:
  SmallFilesBench bench() {
    std::vector<RemoteFile> open;
    for (RemoteFile file = 1; file <= kFiles; ++file) open.push_back(file);
    return {files, open, kSmall, [this] { return files.now; }, [] { return ProcessorTime{}; }};
  }
  static SmallFilesMeasurement with_cache(std::size_t cached_files) {
    return {.cached_files = cached_files, .seed = 6, .duration = 1000ms};
  }
  SmallFiles files;
};

TEST_F(SmallFilesBenchTest, ShareOfHitsIsThatOfTheCache) {
  for (const std::size_t room : {25U, 50U, 75U}) {
    files.wanted.clear();
    const auto found = bench().measure(with_cache(room));
    ASSERT_TRUE(found) << found.error().message();
    const double share = static_cast<double>(found->cached) / static_cast<double>(found->all.calls);
    EXPECT_NEAR(share, static_cast<double>(room) / kFiles, 0.04);
    EXPECT_EQ(files.wanted.size(), room + found->all.calls - found->cached) << "but for its fill";
    EXPECT_EQ(found->all.elapsed, 1000ms) << "without its fill";
    EXPECT_EQ(found->all.bytes, found->all.calls * kSmall);
  }
}

TEST_F(SmallFilesBenchTest, WithoutACacheEachIsRead) {
  const auto found = bench().measure(with_cache(0));
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->cached, 0U);
  EXPECT_EQ(found->all.calls, 1000U);
  EXPECT_EQ(files.wanted.size(), 1000U);
}

TEST_F(SmallFilesBenchTest, OneSeedIsOneChoice) {
  ASSERT_TRUE(bench().measure(with_cache(25)));
  const std::vector<RemoteFile> first = std::exchange(files.wanted, {});
  ASSERT_TRUE(bench().measure(with_cache(25)));
  EXPECT_EQ(files.wanted, first);
}

TEST_F(SmallFilesBenchTest, ReadAllReadsEachOnce) {
  SmallFilesBench made = bench();
  ASSERT_TRUE(made.read_all());
  EXPECT_EQ(files.wanted, made.open());
}

TEST_F(SmallFilesBenchTest, FileOfAnotherSizeEndsTheMeasurement) {
  files.content.pop_back();
  const auto found = bench().measure(with_cache(0));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, FileErrc::changed);
}

}  // namespace
}  // namespace steertag::peer::testing
