// The window of references before a sequential reader.
#include "client/direct/read_ahead.h"

#include <gtest/gtest.h>

namespace steertag::peer {
namespace {

constexpr std::uint64_t kFile = 10'000;  // blocks

class ReadAheadTest : public ::testing::Test {
 protected:
  /// Reads these blocks in order, until there is something to ask for.
  std::optional<std::uint64_t> read(std::uint64_t first, std::uint64_t end) {
    for (next = first; next < end;) {
      if (const auto from = ahead.read(next++)) return from;
    }
    return std::nullopt;
  }

  ReadAhead ahead;
  std::uint64_t next = 0;
};

TEST_F(ReadAheadTest, AsksBeforeTheReaderNeedsThem) {
  ahead.asked(kEagerReferences);
  EXPECT_EQ(read(0, kFile), kEagerReferences);
  EXPECT_EQ(next, kEagerReferences / 2 + 1) << "half of the window is left";
  EXPECT_EQ(read(next, kEagerReferences), std::nullopt) << "it was asked for";
  EXPECT_EQ(ahead.granted(kEagerReferences, kFile), std::nullopt);
  EXPECT_EQ(read(next, kFile), 2 * kEagerReferences);
}

TEST_F(ReadAheadTest, AsksNothingForReadsAtRandom) {
  for (std::uint64_t block = 0; block < kFile; block += 7)
    EXPECT_EQ(ahead.read(block), std::nullopt);
}

TEST_F(ReadAheadTest, ReadsWithinOneBlockAreNoRun) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ahead.read(1), std::nullopt);
}

TEST_F(ReadAheadTest, AsksNothingBehindTheEnd) {
  ASSERT_TRUE(read(0, kFile));
  const std::uint64_t blocks = next + kEagerReferences;
  EXPECT_EQ(ahead.granted(kEagerReferences, blocks), std::nullopt);
  EXPECT_EQ(read(next, blocks), std::nullopt);
}

TEST_F(ReadAheadTest, GivesBackWhatIsBehindWhereTheServerHasNoRoom) {
  ahead.asked(512);
  ASSERT_EQ(read(0, kFile), 512);
  const auto behind = ahead.granted(0, kFile);
  EXPECT_EQ(behind, next - 1 - kKeptBehind);
  EXPECT_EQ(read(next, kFile), 512) << "with that room it asks again";
}

TEST_F(ReadAheadTest, WithNothingToGiveBackBlocksComeByRpc) {
  ASSERT_EQ(read(0, kFile), kSequentialBlocks + 1);
  EXPECT_EQ(ahead.granted(0, kFile), std::nullopt);
  const std::uint64_t skipped = kSequentialBlocks + 1 + kEagerReferences;
  EXPECT_EQ(read(next, kFile), skipped) << "those before it were asked for in vain";
}

TEST_F(ReadAheadTest, AfterARefusalItBeginsWithTheReader) {
  ASSERT_TRUE(read(0, kFile));
  ahead.refused();
  EXPECT_EQ(read(next, kFile), std::nullopt);
  EXPECT_TRUE(read(0, kFile));
}

}  // namespace
}  // namespace steertag::peer
