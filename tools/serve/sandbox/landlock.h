// Landlock: what files the server may still open, and that it makes no connection.
#pragma once

#include <optional>
#include <string>

#include "serve/sandbox/needs.h"

namespace steertag::serve {

/// Restricts the process to the export and to the directory of the recovery file. Needs
/// no_new_privs. The error is a reason.
std::optional<std::string> restrict_files(const SandboxNeeds& needs);

}  // namespace steertag::serve
