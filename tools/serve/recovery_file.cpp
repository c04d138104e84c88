// The file of --recovery-file, before the server starts with it.
#include "serve/recovery_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "server/v4/state/recovery.h"

namespace steertag::serve {

Expected<void, std::string> check_recovery_file(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return Unexpected<std::string>("cannot keep the clients in " + path + ": " + why);
  };
  const std::filesystem::path file(path);
  std::error_code error;
  const auto kind = std::filesystem::status(file, error).type();
  if (kind == std::filesystem::file_type::not_found) {
    const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    if (::access(folder.c_str(), W_OK | X_OK) != 0) return refuse(std::strerror(errno));
    return {};
  }
  if (kind != std::filesystem::file_type::regular) return refuse("it is no regular file");
  std::ifstream text(path);
  if (!text) return refuse(std::strerror(errno));
  if (std::filesystem::file_size(file, error) > peer::kLargestRecoveryFile || error)
    return refuse("it is larger than " + std::to_string(peer::kLargestRecoveryFile) + " octets");
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (!line.empty() && !peer::Recovery::is_line(line))
      return refuse("line " + std::to_string(number) + " is none that a server wrote");
  }
  return {};
}

}  // namespace steertag::serve
