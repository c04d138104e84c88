// The capabilities of the process: gives up those that the server does not need.
#pragma once

#include <optional>
#include <string>

#include "serve/sandbox/needs.h"

namespace steertag::serve {

/// Keeps of what the process has what `needs` asks for, and gives the rest up for good. The error
/// is a reason.
std::optional<std::string> drop_capabilities(const SandboxNeeds& needs);

}  // namespace steertag::serve
