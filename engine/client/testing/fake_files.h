// A file whose server fails in various ways, for tests of what reads and writes files.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "client/files/remote_files.h"

namespace steertag::peer::testing {

/// One file in memory. Calls are answered one per step, oldest or newest first.
class FakeFiles : public RemoteFiles {
 public:
  using Unit = Expected<void, FileError>;
  Expected<RemoteObject, FileError> find(std::string_view, bool) override { return no(); }
  Expected<RemoteAttributes, FileError> attributes(const RemoteHandle&) override { return no(); }
  Expected<std::string, FileError> read_link(const RemoteHandle&) override { return no(); }
  Unit list(const RemoteHandle&, const EntrySink&) override { return no(); }
  Unit list_names(const RemoteHandle&, const NameSink&) override { return no(); }
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
  void write(RemoteFile, std::uint64_t offset, View data, Stability stability,
             WriteDone done) override {
    stabilities.push_back(stability);
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
  std::vector<std::uint32_t> counts;   // of READs
  std::vector<Stability> stabilities;  // of WRITEs

 private:
  static tl::unexpected<FileError> no() { return tl::unexpected(FileError{}); }
  std::deque<std::function<void()>> waiting;
};

}  // namespace steertag::peer::testing
