// The file that keeps the key of handles over restarts of the server.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "server/directory/host_object.h"
#include "support/expected.h"

namespace steertag::serve {

/// Reads the key, or makes one of `random` that only the server's user may read if there is no such
/// file. The error is one sentence.
Expected<peer::HandleKey, std::string> load_key(const std::string& path,
                                                const std::function<std::uint64_t()>& random);

}  // namespace steertag::serve
