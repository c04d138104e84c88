// The order in which rights are given up: the filter last, because it forbids the other steps.
#include "serve/sandbox/sandbox.h"

#include <sys/prctl.h>

#include <cerrno>
#include <cstring>

#include "serve/sandbox/capabilities.h"
#include "serve/sandbox/landlock.h"
#include "serve/sandbox/system_calls.h"

namespace steertag::serve {

std::vector<std::string> enter_sandbox(const SandboxNeeds& needs) {
  std::vector<std::string> lacking;
  const auto note = [&](const std::string& what, const std::optional<std::string>& reason) {
    if (reason) lacking.push_back("sandbox without " + what + ": " + *reason);
  };
  if (needs.has_devices) {
    lacking.emplace_back(
        "sandbox without dropped capabilities and Landlock: the kernel takes no requests for "
        "verbs:// "
        "from a process whose rights have changed since it opened the device");
  } else {
    note("dropped capabilities", drop_capabilities(needs));
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) note("no_new_privs", std::strerror(errno));
  if (!needs.has_devices) note("Landlock", restrict_files(needs));
  note("a seccomp filter", filter_system_calls(needs));
  return lacking;
}

}  // namespace steertag::serve
