// Reading ahead and writing unstable data, against files whose server fails in various ways.
// They answer short, late, out of order, or lose what was not committed.
#include <gtest/gtest.h>

#include "client/files/file_reader.h"
#include "client/files/file_writer.h"
#include "client/testing/fake_files.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

class FileReaderTest : public ::testing::Test {
 protected:
  Bytes read(std::uint64_t size) {
    Bytes octets;
    FileReader reader(
        files, 1, size,
        [&](std::uint64_t offset, View data) {
          EXPECT_EQ(offset, octets.size());
          octets.insert(octets.end(), data.begin(), data.end());
          return Expected<void, FileError>();
        },
        wish);
    for (int i = 0; i < 10'000 && !reader.done(); ++i) reader.step(0ms);
    EXPECT_TRUE(reader.done());
    error = reader.error();
    most_in_flight = reader.most_in_flight();
    return octets;
  }
  FakeFiles files;
  TransferWish wish;
  std::optional<FileError> error;
  std::uint32_t most_in_flight = 0;
};

TEST_F(FileReaderTest, ReadsAheadInTheLimitOfCalls) {
  files.content = pattern(10'500);
  EXPECT_EQ(read(10'500), files.content);
  EXPECT_FALSE(error);
  EXPECT_EQ(most_in_flight, 4U);
  EXPECT_EQ(files.counts.size(), 11U);
}

TEST_F(FileReaderTest, ReadsAreAsSmallAndAsFewAtATimeAsWished) {
  files.content = pattern(10'500);
  wish = {500, 2};
  EXPECT_EQ(read(10'500), files.content);
  EXPECT_FALSE(error);
  EXPECT_EQ(most_in_flight, 2U);
  EXPECT_EQ(files.counts.size(), 21U);
}

TEST_F(FileReaderTest, RepliesOutOfOrderAreDeliveredInOrder) {
  files.content = pattern(10'500);
  files.newest_first = true;
  EXPECT_EQ(read(10'500), files.content);
  EXPECT_FALSE(error);
}

TEST_F(FileReaderTest, ShortReadsAreCompletedAndReadsBecomeSmaller) {
  files.read_bytes = 65536;
  files.content = pattern(600'000);
  files.most_read = 10'000;
  EXPECT_EQ(read(600'000), files.content);
  EXPECT_FALSE(error);
  EXPECT_LE(files.counts.size(), 80U) << "the client goes on asking for too much";
}

TEST_F(FileReaderTest, ShortReadsOutOfOrder) {
  files.content = pattern(10'500);
  files.most_read = 300;
  files.newest_first = true;
  EXPECT_EQ(read(10'500), files.content);
  EXPECT_FALSE(error);
}

TEST_F(FileReaderTest, ServerThatNeverTellsTheEndIsAskedBehindIt) {
  files.content = pattern(3000);
  files.tells_eof = false;
  EXPECT_EQ(read(3000), files.content);
  EXPECT_FALSE(error);
}

TEST_F(FileReaderTest, FileMayBeLongerOrShorterThanItsAttributesSaid) {
  files.content = pattern(5000);
  files.tells_eof = false;
  EXPECT_EQ(read(2500), files.content);
  EXPECT_FALSE(error);
  files.tells_eof = true;
  EXPECT_EQ(read(50'000), files.content);
  EXPECT_FALSE(error);
}

TEST_F(FileReaderTest, EmptyFileHasAnEnd) {
  EXPECT_EQ(read(0), Bytes());
  EXPECT_FALSE(error);
}

TEST_F(FileReaderTest, SinkThatRefusesEndsTheReading) {
  files.content = pattern(10'000);
  FileReader reader(files, 1, 10'000, [](std::uint64_t, View) -> Expected<void, FileError> {
    return tl::unexpected(FileError{FileErrc::local_file, "full", 0, {}});
  });
  for (int i = 0; i < 100 && !reader.done(); ++i) reader.step(0ms);
  ASSERT_TRUE(reader.done());
  EXPECT_EQ(reader.error()->code, FileErrc::local_file);
}

class FileWriterTest : public ::testing::Test {
 protected:
  void write(std::vector<Extent> extents) {
    const FileSource source = [&](std::uint64_t offset, MutableView into) {
      std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(offset), into.size(), into.begin());
      return Expected<void, FileError>();
    };
    FileWriter writer(files, 1, std::move(extents), source, wish);
    for (int i = 0; i < 10'000 && !writer.done(); ++i) writer.step(0ms);
    EXPECT_TRUE(writer.done());
    error = writer.error();
    rewrites = writer.rewrites();
    most_in_flight = writer.most_in_flight();
    written = writer.written_bytes();
  }
  Bytes content = pattern(10'500);
  FakeFiles files;
  TransferWish wish;
  std::optional<FileError> error;
  std::uint32_t rewrites = 0;
  std::uint32_t most_in_flight = 0;
  std::uint64_t written = 0;
};

TEST_F(FileWriterTest, WritesSeveralAtATimeAndCommits) {
  write({{0, 10'500}});
  EXPECT_FALSE(error);
  EXPECT_EQ(files.content, content);
  EXPECT_EQ(files.commits, 1U);
  EXPECT_EQ(files.writes, 11U);
  EXPECT_EQ(most_in_flight, 4U);
  EXPECT_EQ(written, 10'500U);
}

TEST_F(FileWriterTest, WritesAreAsSmallAndAsFewAtATimeAsWished) {
  wish = {500, 2};
  write({{0, 10'500}});
  EXPECT_FALSE(error);
  EXPECT_EQ(files.content, content);
  EXPECT_EQ(files.writes, 21U);
  EXPECT_EQ(most_in_flight, 2U);
}

TEST_F(FileWriterTest, AWishBeyondTheLimitsChangesNothing) {
  wish = {5000, 20};
  write({{0, 10'500}});
  EXPECT_FALSE(error);
  EXPECT_EQ(files.writes, 11U);
  EXPECT_EQ(most_in_flight, 4U);
}

TEST_F(FileWriterTest, StableDataNeedNoCommit) {
  files.stable = true;
  write({{0, 10'500}});
  EXPECT_FALSE(error);
  EXPECT_EQ(files.commits, 0U);
}

TEST_F(FileWriterTest, ShortWritesAreCompleted) {
  files.most_written = 300;
  write({{0, 10'500}});
  EXPECT_FALSE(error);
  EXPECT_EQ(files.content, content);
}

TEST_F(FileWriterTest, RestartBetweenWritesMakesItWriteAgain) {
  files.restart_at = 6;
  write({{0, 10'500}});
  EXPECT_FALSE(error);
  EXPECT_EQ(files.content, content);
  EXPECT_EQ(rewrites, 1U);
}

TEST_F(FileWriterTest, RestartBeforeTheCommitMakesItWriteAgain) {
  files.restarts_at_commit = 2;
  write({{0, 10'500}});
  EXPECT_FALSE(error);
  EXPECT_EQ(files.content, content);
  EXPECT_EQ(rewrites, 2U);
}

TEST_F(FileWriterTest, ServerThatAlwaysRestartsIsGivenUp) {
  files.restarts_at_commit = 1000;
  write({{0, 10'500}});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, FileErrc::state_lost);
  EXPECT_EQ(files.commits, kMostRewrites + 1);
}

TEST_F(FileWriterTest, HolesAreNotWritten) {
  std::fill_n(content.begin() + 2000, 6000, std::byte{0});
  write({{0, 2000}, {8000, 2500}, {10'500, 0}});
  EXPECT_FALSE(error);
  EXPECT_EQ(files.content, content);
  EXPECT_EQ(files.writes, 5U);
}

TEST_F(FileWriterTest, NothingToWriteIsDoneAtOnce) {
  write({});
  EXPECT_FALSE(error);
  EXPECT_EQ(files.writes + files.commits, 0U);
}

}  // namespace
}  // namespace steertag::peer::testing
