// A Landlock ruleset of the export and of what else stays open.
#include "serve/sandbox/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "server/directory/descriptor.h"
#include "wire/sanitized.h"

namespace steertag::serve {
namespace {

using peer::Descriptor;

// Rights and fields that are younger than Debian's headers;
// Documentation/userspace-api/landlock.rst names the version of each.
constexpr std::uint64_t kRefer = std::uint64_t{1} << 13;     // version 2
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;  // version 3
constexpr std::uint64_t kIoctl = std::uint64_t{1} << 15;     // version 5, of devices
constexpr std::uint64_t kBindTcp = 1;                        // version 4
constexpr std::uint64_t kConnectTcp = 2;
constexpr std::uint64_t kAbstractSockets = 1;  // version 6
constexpr std::uint64_t kSignals = 2;

/// Without LANDLOCK_ACCESS_FS_REFER a rename or a link between directories always fails.
constexpr long kLowestVersion = 2;
constexpr long kTruncateVersion = 3;
constexpr long kNetworkVersion = 4;
constexpr long kIoctlVersion = 5;
constexpr long kScopeVersion = 6;

struct Ruleset {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scoped = 0;
};

constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kWrite = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
constexpr std::uint64_t kMakeAny = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                   LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                                   LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                                   LANDLOCK_ACCESS_FS_MAKE_SYM;
constexpr std::uint64_t kRemoveAny = LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR;
constexpr std::uint64_t kExport = kRead | kWrite | kMakeAny | kRemoveAny | kRefer;
constexpr std::uint64_t kAll = kExport | LANDLOCK_ACCESS_FS_EXECUTE | kIoctl;
// The recovery file is written aside and renamed.
constexpr std::uint64_t kRecovery =
    kRead | kWrite | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE;

Ruleset ruleset_of(long version) {
  Ruleset made;
  made.files = kAll;
  if (version < kTruncateVersion) made.files &= ~kTruncate;
  if (version < kIoctlVersion) made.files &= ~kIoctl;
  if (version >= kNetworkVersion) made.network = kBindTcp | kConnectTcp;
  if (version >= kScopeVersion) made.scoped = kAbstractSockets | kSignals;
  return made;
}

bool allow(const Descriptor& ruleset, const std::string& path, std::uint64_t rights) {
  const Descriptor folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return false;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = folder.get();
  return ::syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

std::string folder_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return folder.empty() ? "." : folder.string();
}

bool allow_all(const Descriptor& ruleset, std::uint64_t known, const SandboxNeeds& needs) {
  if (needs.export_directory &&
      !allow(ruleset, *needs.export_directory, (needs.read_only ? kRead : kExport) & known))
    return false;
  if (!needs.recovery_file.empty() &&
      !allow(ruleset, folder_of(needs.recovery_file), kRecovery & known))
    return false;
  if (kSanitized) return allow(ruleset, "/", (kRead | LANDLOCK_ACCESS_FS_EXECUTE) & known);
  return true;
}

}  // namespace

std::optional<std::string> restrict_files(const SandboxNeeds& needs) {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 0) return std::strerror(errno);
  if (version < kLowestVersion) return "Linux 5.19 is the first whose Landlock allows renames";
  Ruleset wanted = ruleset_of(version);
  // Older kernels take the fields that they do not know while these are zero.
  const Descriptor ruleset(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &wanted, sizeof wanted, 0)));
  if (!ruleset || !allow_all(ruleset, wanted.files, needs) ||
      ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0)
    return std::strerror(errno);
  return {};
}

}  // namespace steertag::serve
