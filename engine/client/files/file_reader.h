// Reads a remote file from its start to its end: several READs ahead, delivered in order.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "client/files/remote_files.h"

namespace steertag::peer {

/// Octets that are requested ahead of what was delivered. This also bounds the memory of replies
/// that overtake each other. It is 16 of the largest READs, which fills a connection of 10 Gbit/s
/// with a round trip of 13 ms.
inline constexpr std::size_t kReadAheadBytes = std::size_t{16} << 20;
/// READs are not made smaller than this because the server gave less than asked for.
inline constexpr std::uint32_t kSmallestRead = 4096;

/// Takes the octets at an offset; offsets follow each other without a gap.
using FileSink = std::function<Expected<void, FileError>(std::uint64_t offset, View data)>;

class FileReader {
 public:
  /// `size` is what the file's attributes say: it is read up to its end all the same. `files` must
  /// outlive the reader. The sink may not use them.
  FileReader(RemoteFiles& files, RemoteFile file, std::uint64_t size, FileSink sink,
             const TransferWish& wish = {});
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  /// Works until something came or `timeout` passed.
  void step(std::chrono::milliseconds timeout);
  /// The end was delivered, or there is an error; nothing is under way any more.
  bool done() const;
  const std::optional<FileError>& error() const;
  std::uint64_t delivered_bytes() const;
  /// READs under way, at most.
  std::uint32_t most_in_flight() const;

 private:
  struct State;
  RemoteFiles& files_;
  std::shared_ptr<State> state_;  // callbacks may come after the reader is gone
};

}  // namespace steertag::peer
