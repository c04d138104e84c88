// Looking through the whole export for objects whose place is not known.
#pragma once

#include "server/directory/host_root.h"
#include "server/directory/inode_path_cache.h"

namespace steertag::peer {

/// Handles carry no path. After a restart, or when the host moved something behind the server, it
/// reads all directories once to find an object. Searches rest in between.
class TreeSearch {
 public:
  explicit TreeSearch(Clock clock) : clock_(std::move(clock)) {}

  /// False while the last search is too recent for another.
  bool may_run() const;
  /// Fills `places` anew, with as many objects as it takes, and gives a path of `wanted` if there
  /// is one. Directories that the host does not let us read are left out.
  std::optional<std::string> run(const HostRoot& root, InodePathCache& places, NodeId wanted);
  /// The last search saw everything there was, and `places` has it.
  bool was_complete() const { return complete_; }

 private:
  std::int64_t now_ns() const;

  Clock clock_;
  bool ran_ = false;
  bool complete_ = false;
  std::int64_t ended_ns_ = 0;
  std::int64_t rest_ns_ = 0;
};

}  // namespace steertag::peer
