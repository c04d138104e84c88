// Opening objects below the exported directory.
#include "server/directory/host_root.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "server/directory/host_error.h"
#include "server/directory/limits.h"

namespace steertag::peer {
namespace {

constexpr int kOnlyLook = O_PATH | O_NOFOLLOW | O_CLOEXEC;

Unexpected<std::string> cannot_export(const std::string& path, const std::string& reason) {
  return Unexpected<std::string>("cannot export " + path + ": " + reason);
}

}  // namespace

Expected<HostRoot, std::string> HostRoot::open(const std::string& path,
                                               std::optional<ConfinedOpen::Means> means) {
  HostRoot made;
  made.root_.descriptor = Descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!made.root_.descriptor) return cannot_export(path, std::strerror(errno));
  if (::faccessat(made.root_.descriptor.get(), ".", R_OK | X_OK, AT_EACCESS) != 0)
    return cannot_export(path, std::strerror(errno));
  if (refresh(made.root_) != Status::ok) return cannot_export(path, std::strerror(errno));
  const int root = made.root_.descriptor.get();
  made.confined_open_ = ConfinedOpen(means ? *means : ConfinedOpen::find_means(root));
  const Descriptor tried(made.confined_open_(root, ".", kOnlyLook));
  if (!tried)
    return cannot_export(path,
                         std::string("names below it cannot be confined: ") + std::strerror(errno));
  // Kept open, because a client may take the right to read the root away.
  made.readable_ = Descriptor(made.confined_open_(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!made.readable_) return cannot_export(path, std::strerror(errno));
  made.descriptors_ = Descriptor(::open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!made.descriptors_)
    return cannot_export(path, std::string("/proc/self/fd: ") + std::strerror(errno));
  return made;
}

template <class Open>
Result<Descriptor> HostRoot::retry(Open&& open) const {
  bool relieved = false;
  for (int tries = 0; tries < kMostResolveTries; ++tries) {
    Descriptor opened(open());
    if (opened) return opened;
    if ((errno == EMFILE || errno == ENFILE) && relief_ && !relieved) {
      relieved = true;
      relief_();
    } else if (errno != EAGAIN && errno != EINTR) {
      return tl::unexpected(from_errno(errno));
    }
  }
  return tl::unexpected(Status::jukebox);
}

Result<Descriptor> HostRoot::open_at(int directory, std::string_view path, int flags) const {
  const std::string name(path);
  auto opened = retry([&] { return confined_open_(directory, name.c_str(), flags); });
  // With these flags a link at the end is no error: ELOOP is about one on the way.
  if (!opened && errno == ELOOP) return tl::unexpected(Status::not_directory);
  return opened;
}

Result<HostObject> HostRoot::adopt(Descriptor descriptor) const {
  HostObject object;
  object.descriptor = std::move(descriptor);
  if (const Status status = refresh(object); status != Status::ok) return tl::unexpected(status);
  // Subvolumes have a device of their own without a mount point between, and inode numbers that
  // repeat.
  if (object.status.stx_dev_major != root_.status.stx_dev_major ||
      object.status.stx_dev_minor != root_.status.stx_dev_minor)
    return tl::unexpected(Status::cross_device);
  return object;
}

Result<HostObject> HostRoot::object_from(int directory, std::string_view path) const {
  auto opened = open_at(directory, path, kOnlyLook);
  if (!opened) return tl::unexpected(opened.error());
  return adopt(std::move(*opened));
}

Result<HostObject> HostRoot::object(std::string_view path) const {
  if (path.empty()) return object_from(root_.descriptor.get(), ".");
  Descriptor step;
  int from = root_.descriptor.get();
  while (path.size() > kLongestPathStep) {  // shrinks in every round
    const std::size_t end = path.rfind('/', kLongestPathStep);
    if (end == std::string_view::npos) return tl::unexpected(Status::name_too_long);
    auto opened = open_at(from, path.substr(0, end), kOnlyLook | O_DIRECTORY);
    if (!opened) return tl::unexpected(opened.error());
    step = std::move(*opened);
    from = step.get();
    path.remove_prefix(end + 1);
  }
  return object_from(from, path);
}

Result<HostObject> HostRoot::child(const HostObject& directory, std::string_view name) const {
  return object_from(directory.descriptor.get(), name);
}

Result<Descriptor> HostRoot::make_file(const HostObject& directory, const std::string& name) const {
  constexpr int kFlags = O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  constexpr mode_t kOwnerOnly = 0600;
  return retry(
      [&] { return ::openat(directory.descriptor.get(), name.c_str(), kFlags, kOwnerOnly); });
}

Result<Descriptor> HostRoot::reopen(const HostObject& object, int flags) const {
  if (object.type() != FileType::regular && !object.is_directory())
    return tl::unexpected(Status::invalid);
  const std::string name = name_of(object);
  return retry([&] {
    return ::openat(descriptors_.get(), name.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  });
}

Status HostRoot::sync_file_system() const {
  return ::syncfs(readable_.get()) == 0 ? Status::ok : from_errno(errno);
}

std::string HostRoot::name_of(const HostObject& object) {
  return std::to_string(object.descriptor.get());
}

}  // namespace steertag::peer
