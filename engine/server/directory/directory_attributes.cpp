// Changing attributes of objects of a directory export.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "server/directory/directory_backend.h"
#include "server/directory/host_error.h"

namespace steertag::peer {
namespace {

constexpr std::uint32_t kModeBits = 07777;

Status outcome(int result) {
  return result == 0 ? Status::ok : from_errno(errno);
}

timespec to_timespec(const TimeChange& change) {
  if (change.to)
    return {static_cast<time_t>(change.to->seconds), static_cast<long>(change.to->nanoseconds)};
  return {0, change.to_server_time ? UTIME_NOW : UTIME_OMIT};
}

/// To the host some numbers of nanoseconds mean "now" and "leave it".
bool is_time(const TimeChange& change) {
  constexpr std::uint32_t kNanosecondsPerSecond = 1'000'000'000;
  return !change.to || change.to->nanoseconds < kNanosecondsPerSecond;
}

bool changes(const TimeChange& change) {
  return change.to_server_time || change.to.has_value();
}

}  // namespace

Status DirectoryBackend::resize(const HostObject& object, std::uint64_t size_bytes) {
  if (object.is_directory()) return Status::is_directory;
  if (object.type() != FileType::regular) return Status::invalid;
  if (size_bytes > std::numeric_limits<off_t>::max()) return Status::too_big;
  const auto file = host_->files.writable(host_->tree.root(), object);
  if (!file) return file.error();
  return outcome(::ftruncate(*file, static_cast<off_t>(size_bytes)));
}

Status DirectoryBackend::set_owner(const HostObject& object, std::optional<std::uint32_t> uid,
                                   std::optional<std::uint32_t> gid) {
  constexpr std::uint32_t kLeave = ~std::uint32_t{0};  // chown(2): an id of -1
  if (!uid && !gid) return Status::ok;
  if (uid == kLeave || gid == kLeave) return Status::invalid;
  return outcome(::fchownat(object.descriptor.get(), "", uid.value_or(kLeave), gid.value_or(kLeave),
                            AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

Status DirectoryBackend::set_mode(const HostObject& object, std::uint32_t mode) {
  if (object.type() == FileType::link) return Status::ok;  // the host's links have no mode
  return outcome(::fchmodat(host_->tree.root().descriptors(), HostRoot::name_of(object).c_str(),
                            mode & kModeBits, 0));
}

Status DirectoryBackend::set_times(const HostObject& object, const AttributeChange& change) {
  if (!changes(change.atime) && !changes(change.mtime)) return Status::ok;
  const timespec times[] = {to_timespec(change.atime), to_timespec(change.mtime)};
  return outcome(
      ::utimensat(object.descriptor.get(), "", times, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

Status DirectoryBackend::drop_set_id(const HostObject& object) {
  std::uint32_t mode = object.status.stx_mode & kModeBits;
  if (mode & S_ISUID) mode &= ~std::uint32_t{S_ISUID};
  if ((mode & S_ISGID) && (mode & S_IXGRP)) mode &= ~std::uint32_t{S_ISGID};
  if (mode == (object.status.stx_mode & kModeBits)) return Status::ok;
  return set_mode(object, mode);
}

Status DirectoryBackend::persist(const HostObject& object) {
  const HostRoot& root = host_->tree.root();
  // What cannot be opened, or not by the server's own user, is forced with all the rest.
  if (object.type() != FileType::regular && !object.is_directory()) return root.sync_file_system();
  const auto file = root.reopen(object, O_RDONLY);
  if (!file) return file.error() == Status::access ? root.sync_file_system() : file.error();
  return outcome(::fsync(file->get()));
}

Status DirectoryBackend::change(NodeId node, const AttributeChange& change) {
  if (read_only_) return Status::read_only;
  const auto opened = object(node);
  if (!opened) return opened.error();
  if (!is_time(change.atime) || !is_time(change.mtime)) return Status::invalid;
  mark_changed(node);
  // The size first: it is what may fail, and then nothing was changed.
  if (change.size_bytes) {
    if (const Status status = resize(*opened, *change.size_bytes); status != Status::ok)
      return status;
    if (const Status status = drop_set_id(*opened); status != Status::ok) return status;
  }
  // The owner before the mode, because a new owner clears the set-id bits.
  Status status = set_owner(*opened, change.uid, change.gid);
  if (status == Status::ok && change.mode) status = set_mode(*opened, *change.mode);
  if (status == Status::ok) status = set_times(*opened, change);
  if (status == Status::ok) status = persist(*opened);
  return status;
}

}  // namespace steertag::peer
