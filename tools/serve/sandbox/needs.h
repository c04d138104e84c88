// What the server still needs once it listens.
#pragma once

#include <optional>
#include <string>

namespace steertag::serve {

struct SandboxNeeds {
  std::optional<std::string> export_directory;  // none: memory
  bool read_only = false;
  std::string recovery_file;  // empty: there is none
  bool joins_others = false;  // it connects to UNIX sockets
  bool has_devices = false;   // it listens at a verbs:// URL
};

}  // namespace steertag::serve
