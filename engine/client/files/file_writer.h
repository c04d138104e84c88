// Writes a remote file: several unstable WRITEs at a time, then COMMIT.
// It writes again what a server has lost before the COMMIT.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "client/files/remote_files.h"

namespace steertag::peer {

/// Octets of WRITEs under way, which is what the writer keeps in memory: see kReadAheadBytes.
inline constexpr std::size_t kWriteAheadBytes = std::size_t{16} << 20;
/// Octets after which a COMMIT comes between, so that a server that loses its memory costs no more.
inline constexpr std::uint64_t kCommitBytes = std::uint64_t{256} << 20;
/// Times in a row that the same octets are written because the verifier has changed.
inline constexpr std::uint32_t kMostRewrites = 5;

/// Gives octets from an offset on, again if asked again; fewer than there is room for is an error
/// of the source.
using FileSource = std::function<Expected<void, FileError>(std::uint64_t offset, MutableView into)>;

/// A stretch of a file that has data; the rest are holes.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

class FileWriter {
 public:
  /// `files` must outlive the writer. The source may not use them.
  FileWriter(RemoteFiles& files, RemoteFile file, std::vector<Extent> extents, FileSource source,
             const TransferWish& wish = {});
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  /// Works until something came or `timeout` passed.
  void step(std::chrono::milliseconds timeout);
  /// Everything is on stable storage, or there is an error; nothing is under way any more.
  bool done() const;
  const std::optional<FileError>& error() const;
  /// Octets that the server has taken; less again when it has lost some.
  std::uint64_t written_bytes() const;
  std::uint32_t rewrites() const;
  std::uint32_t most_in_flight() const;

 private:
  struct State;
  RemoteFiles& files_;
  std::shared_ptr<State> state_;  // callbacks may come after the writer is gone
};

}  // namespace steertag::peer
