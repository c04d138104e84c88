// The walk through all directories of an export, breadth first.
#include "server/directory/tree_search.h"

#include <fcntl.h>

#include <deque>

#include "server/directory/host_directory.h"

namespace steertag::peer {

std::int64_t TreeSearch::now_ns() const {
  const Time now = clock_();
  return now.seconds * 1'000'000'000 + now.nanoseconds;
}

bool TreeSearch::may_run() const {
  if (!ran_) return true;
  const std::int64_t now = now_ns();
  return now < ended_ns_ || now - ended_ns_ >= rest_ns_;  // a clock set back ends the rest
}

std::optional<std::string> TreeSearch::run(const HostRoot& root, InodePathCache& places,
                                           NodeId wanted) {
  const std::int64_t started_ns = now_ns();
  places.clear();
  complete_ = true;
  std::optional<std::string> found;
  std::size_t entries = 0;
  std::deque<std::string> waiting = {""};
  while (!waiting.empty()) {  // every directory comes from an entry, and those are counted
    const std::string path = std::move(waiting.front());
    waiting.pop_front();
    const auto directory = root.object(path);
    if (!directory || !directory->is_directory()) continue;
    auto readable = root.reopen(*directory, O_RDONLY | O_DIRECTORY);
    Status status = readable ? Status::ok : readable.error();
    const auto visit = [&](const HostEntry& entry) {
      if (++entries > kMostSearchedEntries) return false;
      places.learn(entry.node, directory->node(), entry.name);
      std::string below = path.empty() ? std::string(entry.name) : path + "/";
      if (!path.empty()) below += entry.name;
      if (entry.node == wanted) found = below;
      if (entry.may_be_directory) waiting.push_back(std::move(below));
      return true;
    };
    if (readable) status = each_entry(std::move(*readable), visit);
    if (status != Status::ok) complete_ = false;
    if (entries > kMostSearchedEntries) break;
  }
  complete_ = complete_ && waiting.empty() && entries <= kMostSearchedEntries && places.kept_all();
  ran_ = true;
  ended_ns_ = now_ns();
  rest_ns_ = (ended_ns_ - started_ns) * kSearchRestFactor;
  return found;
}

}  // namespace steertag::peer
