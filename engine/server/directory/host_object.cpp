// Attributes and identity of an object of the host.
#include "server/directory/host_object.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "server/directory/host_error.h"
#include "server/storage/filehandle_mac.h"

namespace steertag::peer {
namespace {

constexpr std::uint32_t kModeBits = 07777;
constexpr std::uint64_t kBlockBytes = 512;  // the unit of stx_blocks
constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
// statx(2) and Linux's fileid_type agree that no handle is longer.
constexpr std::size_t kLongestHostHandle = 128;

Time to_time(const statx_timestamp& time) {
  return {time.tv_sec, time.tv_nsec};
}

}  // namespace

FileType HostObject::type() const {
  switch (status.stx_mode & S_IFMT) {
    case S_IFDIR:
      return FileType::directory;
    case S_IFBLK:
      return FileType::block;
    case S_IFCHR:
      return FileType::character;
    case S_IFLNK:
      return FileType::link;
    case S_IFSOCK:
      return FileType::socket;
    case S_IFIFO:
      return FileType::fifo;
    default:
      return FileType::regular;
  }
}

Status refresh(HostObject& object) {
  const int result = ::statx(object.descriptor.get(), "", AT_EMPTY_PATH,
                             STATX_BASIC_STATS | STATX_BTIME, &object.status);
  return result == 0 ? Status::ok : from_errno(errno);
}

Attributes to_attributes(const HostObject& object, std::uint64_t filesystem_id) {
  const struct statx& status = object.status;
  Attributes attributes;
  attributes.type = object.type();
  attributes.mode = status.stx_mode & kModeBits;
  attributes.link_count = status.stx_nlink;
  attributes.uid = status.stx_uid;
  attributes.gid = status.stx_gid;
  attributes.size_bytes = status.stx_size;
  attributes.used_bytes = status.stx_blocks * kBlockBytes;
  attributes.device = {status.stx_rdev_major, status.stx_rdev_minor};
  attributes.filesystem_id = filesystem_id;
  attributes.file_id = status.stx_ino;
  attributes.atime = to_time(status.stx_atime);
  attributes.mtime = to_time(status.stx_mtime);
  attributes.ctime = to_time(status.stx_ctime);
  // The host tells of changes by the time of the last one.
  attributes.change = static_cast<std::uint64_t>(attributes.ctime.seconds) * kNanosecondsPerSecond +
                      attributes.ctime.nanoseconds;
  return attributes;
}

std::uint64_t fingerprint(const HostObject& object, const HandleKey& key) {
  constexpr std::size_t kWords = kLongestHostHandle / sizeof(std::uint64_t);
  std::uint64_t words[kWords + 5] = {object.status.stx_ino,
                                     static_cast<std::uint64_t>(object.type())};
  if (object.status.stx_mask & STATX_BTIME) {
    words[2] = static_cast<std::uint64_t>(object.status.stx_btime.tv_sec);
    words[3] = object.status.stx_btime.tv_nsec;
  }
  // Making a host handle needs no privilege; only opening one does, which is never done here.
  alignas(struct file_handle) std::byte room[sizeof(struct file_handle) + kLongestHostHandle] = {};
  auto* handle = reinterpret_cast<struct file_handle*>(room);
  handle->handle_bytes = kLongestHostHandle;
  int mount = 0;
  if (::name_to_handle_at(object.descriptor.get(), "", handle, &mount, AT_EMPTY_PATH) == 0) {
    words[4] =
        std::uint64_t{handle->handle_bytes} << 32 | static_cast<std::uint32_t>(handle->handle_type);
    std::memcpy(words + 5, room + sizeof(struct file_handle), kLongestHostHandle);
  }
  return filehandle_mac(key, words);
}

}  // namespace steertag::peer
