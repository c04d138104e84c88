// The file by which a starter learns the ports of a server that chose it itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "support/expected.h"

namespace steertag::serve {

/// Whether a port file can be written there, found out without touching it, so that a server that
/// nobody would find need not start. The error is one sentence.
Expected<void, std::string> try_port_file(const std::string& path);

/// Writes each port number and a line feed so that a reader sees the whole file or none. The error
/// is one sentence.
Expected<void, std::string> write_port_file(const std::string& path,
                                            std::span<const std::uint16_t> ports);

}  // namespace steertag::serve
