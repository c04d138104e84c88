// Reading ahead and writing unstable data, against files whose server fails in various ways.
// They answer short, late, out of order, or lose what was not committed.
#include <gtest/gtest.h>

#include <map>

#include "client/files/file_reader.h"
#include "client/files/file_writer.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

/// One file in memory. Calls are answered one per step, oldest or newest first.
class FakeFiles final : public RemoteFiles {
 public:
  using Unit = Expected<void, FileError>;
  Expected<RemoteObject, FileError> find(std::string_view, bool) override { return no(); }
  Expected<std::string, FileError> read_link(const RemoteHandle&) override { return no(); }
  Unit list(const RemoteHandle&, const EntrySink&) override { return no(); }
  Unit remove(const RemoteHandle&, std::string_view) override { return no(); }
  Unit rename(const RemoteHandle&, std::string_view, std::string_view) override { return no(); }
  Expected<RemoteFile, FileError> open(const RemoteHandle&) override { return no(); }
  Expected<RemoteFile, FileError> create(const RemoteHandle&, std::string_view,
                                         std::uint32_t) override {
    return no();
  }
  Unit set_size(RemoteFile, std::uint64_t) override { return no(); }
  Unit close(RemoteFile) override { return {}; }
  Unit end() override { return {}; }
  TransferLimits limits() const override { return {read_bytes, write_bytes, 4, 1 << 20}; }
  std::uint32_t version() const override { return 4; }

  void read(RemoteFile, std::uint64_t offset, std::uint32_t count, ReadDone done) override {
    counts.push_back(count);
    waiting.push_back([this, offset, count, done] {
      const std::size_t begin = std::min<std::size_t>(offset, content.size());
      const std::size_t length = std::min<std::size_t>({count, most_read, content.size() - begin});
      const bool eof = tells_eof && begin + length == content.size();
      done(ReadOutcome{View(content).subspan(begin, length), eof || length == 0});
    });
  }
  void write(RemoteFile, std::uint64_t offset, View data, WriteDone done) override {
    waiting.push_back([this, offset, data, done] {
      const std::size_t length = std::min(data.size(), most_written);
      if (content.size() < offset + length) content.resize(offset + length);
      std::copy_n(data.begin(), length, content.begin() + static_cast<std::ptrdiff_t>(offset));
      ++writes;
      if (writes == restart_at) restart();
      done(WriteOutcome{static_cast<std::uint32_t>(length), stable, verifier});
    });
  }
  void commit(RemoteFile, CommitDone done) override {
    waiting.push_back([this, done] {
      ++commits;
      if (commits <= restarts_at_commit) restart();
      done(verifier);
    });
  }
  void step(std::chrono::milliseconds) override {
    ASSERT_FALSE(waiting.empty()) << "nothing is under way";
    const bool newest = newest_first && waiting.size() > 1;
    auto action = newest ? std::move(waiting.back()) : std::move(waiting.front());
    newest ? waiting.pop_back() : waiting.pop_front();
    action();
  }
  /// What was not committed is gone.
  void restart() {
    ++verifier;
    std::fill(content.begin(), content.end(), std::byte{0});
  }

  Bytes content;
  std::uint32_t read_bytes = 1000;
  std::uint32_t write_bytes = 1000;
  std::size_t most_read = SIZE_MAX;
  std::size_t most_written = SIZE_MAX;
  bool tells_eof = true;
  bool newest_first = false;
  bool stable = false;
  WriteVerifier verifier = 1;
  std::uint32_t restart_at = 0;  // the WRITE before whose reply the server restarts
  std::uint32_t restarts_at_commit = 0;
  std::uint32_t writes = 0;
  std::uint32_t commits = 0;
  std::vector<std::uint32_t> counts;

 private:
  static tl::unexpected<FileError> no() { return tl::unexpected(FileError{}); }
  std::deque<std::function<void()>> waiting;
};

class FileReaderTest : public ::testing::Test {
 protected:
  Bytes read(std::uint64_t size) {
    Bytes octets;
    FileReader reader(files, 1, size, [&](std::uint64_t offset, View data) {
      EXPECT_EQ(offset, octets.size());
      octets.insert(octets.end(), data.begin(), data.end());
      return Expected<void, FileError>();
    });
    for (int i = 0; i < 10'000 && !reader.done(); ++i) reader.step(0ms);
    EXPECT_TRUE(reader.done());
    error = reader.error();
    most_in_flight = reader.most_in_flight();
    return octets;
  }
  FakeFiles files;
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
    FileWriter writer(files, 1, std::move(extents), source);
    for (int i = 0; i < 10'000 && !writer.done(); ++i) writer.step(0ms);
    EXPECT_TRUE(writer.done());
    error = writer.error();
    rewrites = writer.rewrites();
    most_in_flight = writer.most_in_flight();
    written = writer.written_bytes();
  }
  Bytes content = pattern(10'500);
  FakeFiles files;
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
