// The table from errno to nfsstat3.
#include "server/directory/host_error.h"

#include <cerrno>

namespace steertag::peer {
namespace {

struct Row {
  int error;
  Status status;
};

constexpr Row kRows[] = {
    {EPERM, Status::not_owner},
    {ENOENT, Status::no_entry},
    {EIO, Status::io},
    {EACCES, Status::access},
    {EEXIST, Status::exists},
    {EXDEV, Status::cross_device},
    {ENOTDIR, Status::not_directory},
    {EISDIR, Status::is_directory},
    {EINVAL, Status::invalid},
    {EFBIG, Status::too_big},
    {EOVERFLOW, Status::too_big},
    {ENOSPC, Status::no_space},
    {EROFS, Status::read_only},
    {EMLINK, Status::too_many_links},
    {ENAMETOOLONG, Status::name_too_long},
    {ENOTEMPTY, Status::not_empty},
    {EDQUOT, Status::over_quota},
    {ESTALE, Status::stale},
    {EOPNOTSUPP, Status::not_supported},
    // A symbolic link where there must be none, a mount point, a program that runs: the host
    // forbids it, and NFS has no closer word.
    {ELOOP, Status::access},
    {EBUSY, Status::access},
    {ETXTBSY, Status::access},
    // What another try may not meet any more (RFC 1813 2.6: NFS3ERR_JUKEBOX).
    {EAGAIN, Status::jukebox},
    {EINTR, Status::jukebox},
    {EMFILE, Status::jukebox},
    {ENFILE, Status::jukebox},
    {ENOMEM, Status::jukebox},
};

}  // namespace

Status from_errno(int error) {
  for (const Row& row : kRows) {
    if (row.error == error) return row.status;
  }
  return Status::io;
}

}  // namespace steertag::peer
