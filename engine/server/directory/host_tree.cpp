// From inode numbers to open objects.
#include "server/directory/host_tree.h"

namespace steertag::peer {
namespace {

/// The place leads to the object no more, as opposed to: the host does not let us look.
bool is_elsewhere(Status status) {
  return status == Status::no_entry || status == Status::not_directory ||
         status == Status::name_too_long;
}

/// Nothing is at the place, or something that is mounted there hides it.
bool is_absent(Status status) {
  return status == Status::no_entry || status == Status::cross_device;
}

}  // namespace

Result<HostTree::Found> HostTree::at_path(NodeId node, const std::string& path) {
  auto object = root_.object(path);
  if (!object)
    return tl::unexpected(is_elsewhere(object.error()) ? Status::no_entry : object.error());
  if (object->node() != node) return tl::unexpected(Status::no_entry);
  return Found{std::move(*object), path};
}

Result<HostTree::Found> HostTree::at_known_place(NodeId node) {
  if (node == root_.node()) return at_path(node, "");
  Status status = Status::no_entry;
  for (const Place& place : places_.places(node)) {
    const auto path = places_.path(place);
    if (!path) continue;
    auto found = at_path(node, *path);
    if (found || !is_absent(found.error())) return found;
    if (found.error() == Status::cross_device) status = found.error();
  }
  return tl::unexpected(status);
}

Result<HostTree::Found> HostTree::find(NodeId node) {
  auto found = at_known_place(node);
  if (found || !is_absent(found.error())) return found;
  // No search finds what is hidden; every listing of a directory with a mount point would run one.
  const bool is_hidden = found.error() == Status::cross_device;
  if (is_hidden || node == root_.node() || places_.is_buried(node))
    return tl::unexpected(Status::stale);
  if (!others_make_ && !search_.may_run()) {
    // What the last search would have remembered was not there; what it saw may have moved since.
    const bool was_absent = search_.was_complete() && places_.kept_all();
    return tl::unexpected(was_absent && places_.places(node).empty() ? Status::stale
                                                                     : Status::jukebox);
  }
  const auto path = search_.run(root_, places_, node);
  if (!path) return tl::unexpected(Status::stale);
  learn_path(*path);
  found = at_path(node, *path);
  if (!found && is_absent(found.error())) return tl::unexpected(Status::stale);
  return found;
}

void HostTree::learn_path(std::string_view path) {
  NodeId parent = root_.node();
  for (std::size_t start = 0; start < path.size();) {  // as many rounds as there are slashes
    const std::size_t end = std::min(path.find('/', start), path.size());
    const auto object = root_.object(path.substr(0, end));
    if (!object) return;
    places_.learn(object->node(), parent, path.substr(start, end - start));
    parent = object->node();
    start = end + 1;
  }
}

Result<HostObject> HostTree::object(NodeId node) {
  auto found = find(node);
  if (!found) return tl::unexpected(found.error());
  return std::move(found->object);
}

Result<HostObject> HostTree::directory(NodeId node) {
  auto opened = object(node);
  if (opened && !opened->is_directory()) return tl::unexpected(Status::not_directory);
  return opened;
}

Result<NodeId> HostTree::parent(NodeId directory) {
  if (directory == root_.node()) return directory;
  const auto found = find(directory);
  if (!found) return tl::unexpected(found.error());
  // The directory above may be another one than when the place was learnt.
  const std::size_t slash = found->path.rfind('/');
  const std::string_view above = slash == std::string::npos
                                     ? std::string_view()
                                     : std::string_view(found->path).substr(0, slash);
  const auto opened = root_.object(above);
  if (!opened) return tl::unexpected(opened.error());
  if (opened->node() != root_.node() && !at_known_place(opened->node())) learn_path(above);
  return opened->node();
}

}  // namespace steertag::peer
