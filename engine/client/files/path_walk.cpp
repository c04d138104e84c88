// Walking of paths.
#include "client/files/path_walk.h"

#include <algorithm>

namespace steertag::peer {
namespace {

using Names = std::vector<std::string>;

/// Puts the names of a link in the place of those that were taken.
bool replace(Names& waiting, std::string_view link) {
  Names names = components(link);
  std::reverse(names.begin(), names.end());
  waiting.insert(waiting.end(), std::make_move_iterator(names.begin()),
                 std::make_move_iterator(names.end()));
  return waiting.size() <= kMostPath && link.size() <= kMostPath;
}

}  // namespace

std::vector<std::string> components(std::string_view path) {
  Names names;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    if (!name.empty() && name != ".") names.emplace_back(name);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return names;
}

Expected<RemoteObject, FileError> walk_path(const RemoteObject& root, std::string_view path,
                                            bool follow, const PathSteps& steps) {
  if (path.size() > kMostPath)
    return tl::unexpected(FileError{FileErrc::too_long, "a path", 0, {}});
  Names waiting = components(path);  // the next one last
  std::reverse(waiting.begin(), waiting.end());
  std::vector<RemoteObject> way{root};
  std::size_t links = 0;
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    if (name == "..") {
      if (way.size() > 1) way.pop_back();
      continue;
    }
    auto next = steps.lookup(way.back().handle, name);
    if (!next) return next;
    if (next->attributes.type != RemoteType::link || (waiting.empty() && !follow)) {
      way.push_back(std::move(*next));
      continue;
    }
    if (++links > kMostFollowedLinks)
      return tl::unexpected(FileError{FileErrc::too_many_links, "\"" + name + "\"", 0, {}});
    const auto link = steps.read_link(next->handle);
    if (!link) return tl::unexpected(link.error());
    if (link->starts_with('/')) way.resize(1);
    if (!replace(waiting, *link))
      return tl::unexpected(FileError{FileErrc::too_long, "a symbolic link", 0, {}});
  }
  return way.back();
}

}  // namespace steertag::peer
