// From a path to an object: components in order, symbolic links replaced by what they hold.
#pragma once

#include <functional>
#include <vector>

#include "client/files/remote_files.h"

namespace steertag::peer {

/// How a version of NFS takes one step.
struct PathSteps {
  std::function<Expected<RemoteObject, FileError>(const RemoteHandle& directory,
                                                  std::string_view name)>
      lookup;
  std::function<Expected<std::string, FileError>(const RemoteHandle& link)> read_link;
};

/// The components of a path, without empty ones and ".".
std::vector<std::string> components(std::string_view path);
/// Walks from `root`. ".." goes to the directory that was before, and stays at the root. A link
/// that is absolute starts from the root again.
Expected<RemoteObject, FileError> walk_path(const RemoteObject& root, std::string_view path,
                                            bool follow, const PathSteps& steps);

}  // namespace steertag::peer
