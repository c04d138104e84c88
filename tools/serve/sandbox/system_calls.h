// The seccomp filter: what system calls the server may still make.
#pragma once

#include <optional>
#include <string>

#include "serve/sandbox/needs.h"

namespace steertag::serve {

/// From here on a system call that no server needs fails with EPERM. One that only an attacker
/// would make ends the process by SIGSYS. The error is a reason.
std::optional<std::string> filter_system_calls(const SandboxNeeds& needs);

}  // namespace steertag::serve
