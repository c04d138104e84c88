// Opening what is below a directory of the host, and nothing else.
#pragma once

#include <cstdint>

#include "server/directory/descriptor.h"

namespace steertag::peer {

/// Follows no symbolic link and no "..", and crosses no mount point, whatever the host changes
/// meanwhile.
class ConfinedOpen {
 public:
  enum class Means : std::uint8_t {
    openat2,    // the kernel resolves the whole path
    each_step,  // each component is opened by itself
  };

  /// The means that the host allows this process. Filters of system calls cannot look into
  /// openat2's arguments, and some refuse it: systemd's RestrictSUIDSGID= with ENOSYS, those of
  /// older container engines with EPERM.
  static Means find_means(int directory);

  explicit ConfinedOpen(Means means = Means::openat2) : means_(means) {}

  /// A descriptor of `path`, components joined by slashes or ".", or -1 and errno. `flags` are
  /// those of open without O_CREAT. Links on the way are ELOOP or ENOTDIR, other mounts EXDEV.
  int operator()(int directory, const char* path, int flags) const;

 private:
  Means means_;
};

}  // namespace steertag::peer
