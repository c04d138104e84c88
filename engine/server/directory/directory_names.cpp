// Removing, moving and linking names of a directory export.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "server/directory/directory_backend.h"
#include "server/directory/host_error.h"
#include "server/storage/entry_name.h"

namespace steertag::peer {
namespace {

/// For names that shall exist already: none that `check_name` refuses does.
Status check_existing(std::string_view name) {
  const Status status = check_name(name);
  return status == Status::invalid ? Status::no_entry : status;
}

}  // namespace

void DirectoryBackend::after_unlink(Result<HostObject>& victim, NodeId directory,
                                    std::string_view name) {
  if (!victim) return;
  const NodeId node = victim->node();
  mark_changed(node);
  host_->tree.places().forget(node, directory, name);
  if (refresh(*victim) != Status::ok || victim->status.stx_nlink > 0) return;
  host_->tree.places().bury(node);
  host_->files.forget(node);
}

Status DirectoryBackend::unlink(NodeId directory, std::string_view name, int flags) {
  const auto parent = writable_directory(directory);
  if (!parent) return parent.error();
  if (name == ".") return Status::invalid;
  if (name == "..") return flags == AT_REMOVEDIR ? Status::exists : Status::invalid;
  if (const Status status = check_existing(name); status != Status::ok) return status;
  auto victim = host_->tree.root().child(*parent, name);
  if (::unlinkat(parent->descriptor.get(), std::string(name).c_str(), flags) != 0)
    return errno == EEXIST ? Status::not_empty : from_errno(errno);
  mark_changed(directory);
  after_unlink(victim, directory, name);
  return persist(*parent);
}

Status DirectoryBackend::remove(NodeId directory, std::string_view name) {
  return unlink(directory, name, 0);
}

Status DirectoryBackend::remove_directory(NodeId directory, std::string_view name) {
  return unlink(directory, name, AT_REMOVEDIR);
}

Status DirectoryBackend::rename(NodeId from_directory, std::string_view from_name,
                                NodeId to_directory, std::string_view to_name) {
  const auto from = writable_directory(from_directory);
  if (!from) return from.error();
  const auto to = writable_directory(to_directory);
  if (!to) return to.error();
  if (is_dots(from_name) || is_dots(to_name)) return Status::invalid;
  if (const Status status = check_existing(from_name); status != Status::ok) return status;
  if (const Status status = check_name(to_name); status != Status::ok) return status;
  const auto moved = host_->tree.root().child(*from, from_name);
  if (!moved) return moved.error();
  auto victim = host_->tree.root().child(*to, to_name);
  if (victim && victim->node() == moved->node()) return Status::ok;  // RFC 1813 3.3.14
  if (::renameat(from->descriptor.get(), std::string(from_name).c_str(), to->descriptor.get(),
                 std::string(to_name).c_str()) != 0) {
    // RFC 1813 3.3.14: the target exists, but is of the other kind.
    if (errno == EISDIR || errno == ENOTDIR) return Status::exists;
    return errno == EEXIST ? Status::not_empty : from_errno(errno);
  }
  for (const NodeId changed : {from_directory, to_directory, moved->node()}) mark_changed(changed);
  after_unlink(victim, to_directory, to_name);
  host_->tree.places().forget(moved->node(), from_directory, from_name);
  host_->tree.learn(moved->node(), to_directory, to_name);
  const Status status = persist(*to);
  return status == Status::ok && from_directory != to_directory ? persist(*from) : status;
}

Status DirectoryBackend::link(NodeId node, NodeId directory, std::string_view name) {
  if (read_only_) return Status::read_only;
  const auto opened = object(node);
  if (!opened) return opened.error();
  const auto parent = writable_directory(directory);
  if (!parent) return parent.error();
  if (opened->is_directory()) return Status::is_directory;
  if (is_dots(name)) return Status::exists;
  if (const Status status = check_name(name); status != Status::ok) return status;
  const std::string source = HostRoot::name_of(*opened);
  if (::linkat(host_->tree.root().descriptors(), source.c_str(), parent->descriptor.get(),
               std::string(name).c_str(), AT_SYMLINK_FOLLOW) != 0)
    return from_errno(errno);
  for (const NodeId changed : {node, directory}) mark_changed(changed);
  host_->tree.learn(node, directory, name);
  return persist(*parent);
}

}  // namespace steertag::peer
