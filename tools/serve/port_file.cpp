// The port file, written aside and renamed into place.
#include "serve/port_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace steertag::serve {

Expected<void, std::string> write_port_file(const std::string& path,
                                            std::span<const std::uint16_t> ports) {
  const std::string aside = path + "." + std::to_string(::getpid()) + ".tmp";
  const auto fail = [&](const std::string& what) {
    const std::string reason = std::strerror(errno);
    std::remove(aside.c_str());
    return Unexpected<std::string>("cannot " + what + ": " + reason);
  };
  errno = 0;
  std::ofstream file(aside);
  for (const std::uint16_t port : ports) file << port << '\n';
  file.close();
  if (!file) return fail("write " + aside);
  if (std::rename(aside.c_str(), path.c_str()) != 0) return fail("rename " + aside + " to " + path);
  return {};
}

}  // namespace steertag::serve
