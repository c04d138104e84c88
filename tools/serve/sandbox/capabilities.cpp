// Gives up capabilities by capset(2).
#include "serve/sandbox/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace steertag::serve {
namespace {

constexpr std::uint64_t bit(int capability) {
  return std::uint64_t{1} << capability;
}

constexpr int kWordBits = 32;
constexpr int kMostCapabilities = 64;  // what two words hold

// A root server decides by mode bits itself, so the host must refuse it nothing.
// DAC_OVERRIDE opens. CHOWN and FOWNER set owner, mode and times of others' objects. FSETID keeps
// set-group-ID bits of groups that it is not in. MKNOD makes devices.
constexpr std::uint64_t kWritableExport =
    bit(CAP_CHOWN) | bit(CAP_DAC_OVERRIDE) | bit(CAP_FOWNER) | bit(CAP_FSETID) | bit(CAP_MKNOD);
constexpr std::uint64_t kReadOnlyExport = bit(CAP_DAC_READ_SEARCH);
// Root may keep the file in a directory of another user.
constexpr std::uint64_t kRecoveryFile = bit(CAP_DAC_OVERRIDE);

std::uint64_t wanted(const SandboxNeeds& needs) {
  std::uint64_t kept = 0;
  if (::geteuid() != 0) return kept;
  if (needs.export_directory) kept |= needs.read_only ? kReadOnlyExport : kWritableExport;
  if (!needs.recovery_file.empty()) kept |= kRecoveryFile;
  return kept;
}

/// Whether all but `kept` left the bounding set. It matters little beside no_new_privs.
bool limit_bounding_set(std::uint64_t kept) {
  for (int capability = 0; capability < kMostCapabilities; ++capability) {
    if ((kept & bit(capability)) != 0) continue;
    const int held = ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (held < 0) return true;  // the kernel knows no more
    if (held > 0 && ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> drop_capabilities(const SandboxNeeds& needs) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0) return std::strerror(errno);
  const std::uint64_t kept = wanted(needs);
  const bool may_limit = (sets[0].effective & bit(CAP_SETPCAP)) != 0;
  if (may_limit && !limit_bounding_set(kept)) return std::strerror(errno);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto word = static_cast<std::uint32_t>(kept >> (i * kWordBits));
    sets[i].permitted &= word;
    sets[i].effective = sets[i].permitted;
    sets[i].inheritable = 0;  // with which the ambient set is empty too
  }
  if (::syscall(SYS_capset, &header, sets.data()) != 0) return std::strerror(errno);
  return {};
}

}  // namespace steertag::serve
