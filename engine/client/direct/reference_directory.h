// The references that a client knows, by file and block, with a limit and a time to live.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "client/files/remote_files.h"
#include "nfs/direct/messages.h"
#include "support/lru_map.h"

namespace steertag::peer {

/// References that are kept, of all open files: 256 MiB in blocks of 64 KiB. The least recently
/// used makes room.
inline constexpr std::size_t kMostKeptReferences = 4096;

/// Files are those that are open. What is known of a file that is closed is never asked for again.
class ReferenceDirectory {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit ReferenceDirectory(std::size_t limit = kMostKeptReferences) : references_(limit) {}

  /// Usable until `end`; in place of what was known of the block.
  void put(RemoteFile file, std::uint64_t block, const direct::Reference& reference, Time end);
  std::optional<direct::Reference> find(RemoteFile file, std::uint64_t block, Time now);
  void erase(RemoteFile file, std::uint64_t block);
  /// Forgets all references of a file, and gives them, also those whose time is over.
  std::vector<direct::Reference> take(RemoteFile file) { return take_before(file, UINT64_MAX); }
  /// The same for the blocks before this one.
  std::vector<direct::Reference> take_before(RemoteFile file, std::uint64_t block);
  void clear() { references_.clear(); }
  std::size_t size() const { return references_.size(); }

 private:
  struct Entry {
    direct::Reference reference;
    Time end{};
  };

  LruMap<std::uint64_t, Entry> references_;  // by file and block
};

}  // namespace steertag::peer
