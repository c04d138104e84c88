// Where the objects of an export were last seen.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "server/directory/limits.h"
#include "server/storage/backend.h"
#include "support/lru_map.h"

namespace steertag::peer {

/// A name in a directory.
struct Place {
  NodeId directory = 0;
  std::string name;
  bool operator==(const Place&) const = default;
};

/// Only a memory: the host may have moved everything since, so who uses a place looks whether the
/// object is still there.
class InodePathCache {
 public:
  explicit InodePathCache(NodeId root, std::size_t most_objects = kMostPlacedObjects)
      : root_(root), places_(most_objects), gone_(kMostGoneObjects) {}

  void learn(NodeId node, NodeId directory, std::string_view name);
  void forget(NodeId node, NodeId directory, std::string_view name);
  /// The object exists no more.
  void bury(NodeId node);
  bool is_buried(NodeId node) { return gone_.find(node) != nullptr; }
  /// Latest first; empty if nothing is known.
  std::deque<Place> places(NodeId node);
  /// The path of a place from the root; nothing if a directory on the way is not known.
  std::optional<std::string> path(const Place& place);

  void clear() { places_.clear(); }
  /// Nothing had to make room since the index was cleared.
  bool kept_all() const { return places_.dropped() == 0; }

 private:
  NodeId root_;
  LruMap<NodeId, std::deque<Place>> places_;
  LruMap<NodeId, bool> gone_;
};

}  // namespace steertag::peer
