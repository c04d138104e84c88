// The file by which a starter learns the port of a server that chose it itself.
#pragma once

#include <cstdint>
#include <string>

#include "support/expected.h"

namespace steertag::serve {

/// Writes the port number and a line feed so that a reader sees the whole file or none. The error
/// is one sentence.
Expected<void, std::string> write_port_file(const std::string& path, std::uint16_t port);

}  // namespace steertag::serve
