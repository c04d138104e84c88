// The objects of an export by their inode numbers.
#pragma once

#include "server/directory/host_root.h"
#include "server/directory/inode_path_cache.h"
#include "server/directory/tree_search.h"

namespace steertag::peer {

/// Opens an object only by a path from the root that leads to it now. What was moved out of the
/// export, or behind a mount point, is not there any more.
class HostTree {
 public:
  /// With `others_make` a search never rests: what the last one did not see may be there by now.
  HostTree(HostRoot root, Clock clock, std::size_t most_placed = kMostPlacedObjects,
           bool others_make = false)
      : root_(std::move(root)),
        places_(root_.node(), most_placed),
        search_(std::move(clock)),
        others_make_(others_make) {}

  HostRoot& root() { return root_; }
  InodePathCache& places() { return places_; }

  /// Status::stale if the export has it no more; Status::jukebox if it can be looked for only
  /// later.
  Result<HostObject> object(NodeId node);
  /// As `object`, and Status::not_directory.
  Result<HostObject> directory(NodeId node);
  /// The root's parent is the root.
  Result<NodeId> parent(NodeId directory);

  /// Remembers an object that a directory has under this name.
  void learn(NodeId node, NodeId directory, std::string_view name) {
    places_.learn(node, directory, name);
  }

 private:
  /// An object, and the path from the root that led to it.
  struct Found {
    HostObject object;
    std::string path;
  };
  Result<Found> find(NodeId node);
  /// Status::no_entry if none of the known places has it; Status::cross_device if something that is
  /// mounted over one of them hides it.
  Result<Found> at_known_place(NodeId node);
  Result<Found> at_path(NodeId node, const std::string& path);
  /// Opens every directory of a path on its own, to remember where they are.
  void learn_path(std::string_view path);

  HostRoot root_;
  InodePathCache places_;
  TreeSearch search_;
  bool others_make_;
};

}  // namespace steertag::peer
