// Places of objects, and the paths that they make.
#include "server/directory/inode_path_cache.h"

#include <algorithm>
#include <vector>

namespace steertag::peer {

void InodePathCache::learn(NodeId node, NodeId directory, std::string_view name) {
  if (node == root_) return;
  gone_.erase(node);
  auto& places = places_.put(node);
  if (!places.empty() && places.front().directory == directory && places.front().name == name)
    return;
  std::erase(places, Place{directory, std::string(name)});
  places.push_front({directory, std::string(name)});
  if (places.size() > kMostPlacesPerObject) places.pop_back();
}

void InodePathCache::forget(NodeId node, NodeId directory, std::string_view name) {
  auto* places = places_.find(node);
  if (!places) return;
  std::erase(*places, Place{directory, std::string(name)});
  if (places->empty()) places_.erase(node);
}

void InodePathCache::bury(NodeId node) {
  places_.erase(node);
  gone_.put(node) = true;
}

std::deque<Place> InodePathCache::places(NodeId node) {
  const auto* places = places_.find(node);
  return places ? *places : std::deque<Place>{};
}

std::optional<std::string> InodePathCache::path(const Place& place) {
  std::vector<const std::string*> names = {&place.name};
  NodeId at = place.directory;
  while (at != root_) {
    const auto* places = places_.find(at);
    // A chain of outdated places may even be a circle.
    if (!places || names.size() > kDeepestPath) return std::nullopt;
    names.push_back(&places->front().name);
    at = places->front().directory;
  }
  std::string path;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (!path.empty()) path += '/';
    path += **name;
  }
  return path;
}

}  // namespace steertag::peer
