// Least privilege: the server gives up what it does not need once it listens.
#pragma once

#include <string>
#include <vector>

#include "serve/sandbox/needs.h"

namespace steertag::serve {

/// Drops capabilities, sets no_new_privs, restricts files by Landlock and system calls by seccomp.
/// What cannot be had is left out, with a line each about it.
std::vector<std::string> enter_sandbox(const SandboxNeeds& needs);

}  // namespace steertag::serve
