// The port file, written aside and renamed into place.
#include "serve/port_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace steertag::serve {
namespace {

std::string name_aside(const std::string& path) {
  return path + "." + std::to_string(::getpid()) + ".tmp";
}

Unexpected<std::string> failure(const std::string& path, int error) {
  return Unexpected<std::string>("the port file " + path +
                                 " cannot be written: " + std::strerror(error));
}

/// 0, or why not as errno has it.
int write_aside(const std::string& aside, std::span<const std::uint16_t> ports) {
  errno = 0;
  std::ofstream file(aside);
  for (const std::uint16_t port : ports) file << port << '\n';
  file.close();
  return file ? 0 : errno;
}

}  // namespace

Expected<void, std::string> try_port_file(const std::string& path) {
  struct stat found {};
  // Where nothing is the rename will succeed.
  if (::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return failure(path, EISDIR);
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
