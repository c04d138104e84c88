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
  note("dropped capabilities", drop_capabilities(needs));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) note("no_new_privs", std::strerror(errno));
  note("Landlock", restrict_files(needs));
  note("a seccomp filter", filter_system_calls(needs));
  if (needs.has_devices)
    lacking.emplace_back(
        "sandbox with what verbs:// needs: CAP_IPC_LOCK where the server has it, /dev/infiniband, "
        "reading /sys, /etc/libibverbs.d and /usr/lib, ioctl, sockets and executable memory");
  return lacking;
}

}  // namespace steertag::serve
