// Resolves paths by the kernel, or step by step.
#include "server/directory/confined_open.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

namespace steertag::peer {
namespace {

constexpr std::uint64_t kConfined =
    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
constexpr int kStep = O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC;

int by_openat2(int directory, const char* path, int flags) {
  struct open_how how {};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = kConfined;
  return static_cast<int>(::syscall(SYS_openat2, directory, path, &how, sizeof how));
}

// The mount that the object of a descriptor is on; nothing: errno.
std::optional<std::uint64_t> mount_of(int descriptor) {
  struct statx status {};
  if (::statx(descriptor, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_MNT_ID, &status) != 0)
    return std::nullopt;
  if ((status.stx_mask & STATX_MNT_ID) == 0) {
    errno = ENOSYS;  // Linux before 5.8
    return std::nullopt;
  }
  return status.stx_mnt_id;
}

// One component. It is opened where it is held, so that a rename cannot put another one in between.
Descriptor open_step(int directory, std::string_view name, int flags, std::uint64_t mount) {
  if (name.empty() || name == "..") {
    errno = EXDEV;
    return Descriptor();
  }
  Descriptor opened(::openat(directory, std::string(name).c_str(), flags | O_NOFOLLOW));
  if (!opened) return opened;
  const auto its_mount = mount_of(opened.get());
  if (its_mount == mount) return opened;
  const int code = its_mount ? EXDEV : errno;
  opened = Descriptor();
  errno = code;
  return opened;
}

int by_each_step(int directory, std::string_view path, int flags) {
  const auto mount = mount_of(directory);
  if (!mount) return -1;
  Descriptor held;
  int from = directory;
  for (std::size_t end = path.find('/'); end != std::string_view::npos; end = path.find('/')) {
    Descriptor next = open_step(from, path.substr(0, end), kStep, *mount);
    if (!next) return -1;
    held = std::move(next);
    from = held.get();
    path.remove_prefix(end + 1);
  }
  return open_step(from, path, flags, *mount).release();
}

}  // namespace

ConfinedOpen::Means ConfinedOpen::find_means(int directory) {
  const Descriptor tried(by_openat2(directory, ".", O_PATH | O_CLOEXEC));
  const bool refused = !tried && (errno == ENOSYS || errno == EPERM);
  return refused ? Means::each_step : Means::openat2;
}

int ConfinedOpen::operator()(int directory, const char* path, int flags) const {
  return means_ == Means::openat2 ? by_openat2(directory, path, flags)
                                  : by_each_step(directory, path, flags);
}

}  // namespace steertag::peer
