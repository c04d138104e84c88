// The port file, written aside and renamed into place.
#include "serve/port_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace steertag::serve {
namespace {

std::string name_aside(const std::string& path) {
  return path + "." + std::to_string(::getpid()) + ".tmp";
}

Unexpected<std::string> failure(const std::string& path, const std::string& reason) {
  return Unexpected<std::string>("the port file " + path + " cannot be written: " + reason);
}

Unexpected<std::string> failure(const std::string& path, int error) {
  return failure(path, std::string(std::strerror(error)));
}

/// Where a path leads, also while nothing is there; empty if that cannot be said.
std::filesystem::path place_of(const std::string& path) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);
  if (error) return {};
  const auto place = std::filesystem::weakly_canonical(whole, error);
  return error ? std::filesystem::path() : place;
}

bool are_same(const std::string& left, const std::string& right) {
  std::error_code error;  // usual: one of them is not there
  if (std::filesystem::equivalent(left, right, error)) return true;
  const auto place = place_of(left);
  return !place.empty() && place == place_of(right);
}

/// 0, or why not as errno has it.
int write_aside(const std::string& aside, std::span<const std::uint16_t> ports) {
  errno = 0;
  std::ofstream file(aside);
  for (const std::uint16_t port : ports) file << port << '\n';
  file.close();
  if (file) return 0;
  return errno != 0 ? errno : EIO;  // a stream may fail without the host's doing
}

}  // namespace

Expected<void, std::string> try_port_file(const std::string& path, std::span<const KeptFile> kept) {
  for (const KeptFile& other : kept) {
    if (!other.path.empty() && are_same(path, other.path))
      return failure(path, other.option + " names the same file");
  }
  struct stat found {};
  const bool is_there = ::stat(path.c_str(), &found) == 0;
  if (!is_there && errno != ENOENT) return failure(path, errno);
  // The rename would replace a device or a FIFO that another program uses.
  if (is_there && !S_ISREG(found.st_mode)) return failure(path, "not a regular file");
  const std::string aside = name_aside(path);
  const int error = write_aside(aside, {});
  std::remove(aside.c_str());
  if (error != 0) return failure(path, error);
  return {};
}

Expected<void, std::string> write_port_file(const std::string& path,
                                            std::span<const std::uint16_t> ports) {
  const std::string aside = name_aside(path);
  int error = write_aside(aside, ports);
  if (error == 0 && std::rename(aside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  std::remove(aside.c_str());
  return failure(path, error);
}

}  // namespace steertag::serve
