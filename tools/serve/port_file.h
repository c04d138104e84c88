// The file by which a starter learns the ports of a server that chose it itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "support/expected.h"

namespace steertag::serve {

/// A file that the server reads again after a restart, by the option that names it.
struct KeptFile {
  std::string option;
  std::string path;  // empty: there is none
};

/// Whether a port file can be written there, found out without touching it. A server that no client
/// would find then need not start. What is there already has to be a regular file and none of the
/// kept files. A symbolic link is judged by its target, even a missing one. The error is one
/// sentence.
Expected<void, std::string> try_port_file(const std::string& path, std::span<const KeptFile> kept);

/// Writes each port number and a line feed so that a reader sees the whole file or none. A symbolic
/// link is replaced, not followed. The error is one sentence.
Expected<void, std::string> write_port_file(const std::string& path,
                                            std::span<const std::uint16_t> ports);

}  // namespace steertag::serve
