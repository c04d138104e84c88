// Descriptors of regular files that READ and WRITE use again.
#pragma once

#include "server/directory/host_root.h"
#include "server/directory/limits.h"
#include "support/lru_map.h"

namespace steertag::peer {

/// An open file keeps its inode number from being used again, so the number tells which it is.
/// Whether the export still has the object is the caller's to know.
class OpenFiles {
 public:
  /// `clock` says which files were not used for kOpenFileIdle.
  explicit OpenFiles(Clock clock, std::size_t most = kMostOpenFiles)
      : clock_(std::move(clock)), files_(most) {}

  /// Valid until the next call of anything here.
  Result<int> readable(const HostRoot& root, const HostObject& object);
  Result<int> writable(const HostRoot& root, const HostObject& object);
  /// Keeps a file that was opened for reading and writing when it was made.
  void keep(NodeId node, Descriptor descriptor);
  void forget(NodeId node) { files_.erase(node); }
  void clear() { files_.clear(); }
  /// Closes the files that were not used for kOpenFileIdle.
  void close_idle();
  std::size_t size() const { return files_.size(); }

 private:
  struct File {
    Descriptor descriptor;
    bool reads = false;
    bool writes = false;
    std::int64_t used_seconds = 0;
  };
  /// Opens with this access what is not open with it.
  Result<int> open(const HostRoot& root, const HostObject& object, int access);

  /// The open file, used just now; null if there is none.
  const File* find(NodeId node);

  Clock clock_;
  LruMap<NodeId, File> files_;
};

}  // namespace steertag::peer
