// Measures READs of small files at random. A cache of the client answers some of them.
#pragma once

#include <vector>

#include "client/bench/file_bench.h"

namespace steertag::peer {

struct SmallFilesMeasurement {
  std::size_t cached_files = 0;  // in the cache, whole; the least recently used makes room
  std::uint64_t seed = 0;        // of the choice of files
  std::chrono::milliseconds duration{1000};
  std::uint64_t least_reads = 0;  // it goes on until so many have ended: see kMostExtension
};

struct SmallFilesMeasured {
  Measured all;              // READs and hits: `calls` are both
  std::uint64_t cached = 0;  // hits
};

/// Files of one size, each read whole by one READ, one at a time. Each has the same chance to be
/// next, so that the share of hits is that of the cache in all files.
class SmallFilesBench {
 public:
  /// `files` must outlive the bench; the files are open and have `file_bytes` octets, one at least.
  SmallFilesBench(RemoteFiles& files, std::vector<RemoteFile> open, std::uint32_t file_bytes,
                  DeadlineClock clock, ProcessorClock processor);

  /// Reads each file once.
  Expected<void, FileError> read_all();
  /// Fills the cache, then starts the clock.
  Expected<SmallFilesMeasured, FileError> measure(const SmallFilesMeasurement& what);
  const std::vector<RemoteFile>& open() const { return open_; }

 private:
  /// The octets of a file are in content_ then.
  Expected<void, FileError> read(RemoteFile file);

  RemoteFiles& files_;
  std::vector<RemoteFile> open_;
  DeadlineClock clock_;
  ProcessorClock processor_;
  Bytes content_;
};

}  // namespace steertag::peer
