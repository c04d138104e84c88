// The file of --recovery-file, before the server starts with it.
#pragma once

#include <string>

#include "support/expected.h"

namespace steertag::serve {

/// Nothing, or one sentence about why the server cannot keep its clients in this file. It must be
/// missing or what a server wrote. Its directory must let a new one take its place.
Expected<void, std::string> check_recovery_file(const std::string& path);

}  // namespace steertag::serve
