// The key of handles as 32 hexadecimal digits and a line feed.
#include "serve/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "server/directory/descriptor.h"

namespace steertag::serve {
namespace {

using peer::Descriptor;
using peer::HandleKey;

constexpr std::size_t kDigits = 16;  // of each of the two words
constexpr std::size_t kFileBytes = 2 * kDigits + 1;

Unexpected<std::string> fail(const std::string& what, const std::string& reason) {
  return Unexpected<std::string>("cannot " + what + ": " + reason);
}

Expected<HandleKey, std::string> make(const std::string& path,
                                      const std::function<std::uint64_t()>& random) {
  const HandleKey key = {random(), random()};
  char text[kFileBytes + 1];
  std::snprintf(text, sizeof text, "%016llx%016llx\n", static_cast<unsigned long long>(key[0]),
                static_cast<unsigned long long>(key[1]));
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return fail("make " + path, std::strerror(errno));
  if (::write(file.get(), text, kFileBytes) != static_cast<ssize_t>(kFileBytes) ||
      ::fsync(file.get()) != 0) {
    const std::string reason = std::strerror(errno);
    ::unlink(path.c_str());
    return fail("write " + path, reason);
  }
  return key;
}

}  // namespace

Expected<HandleKey, std::string> load_key(const std::string& path,
                                          const std::function<std::uint64_t()>& random) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file && errno == ENOENT) return make(path, random);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return fail("read " + path, std::strerror(errno));
  if ((status.st_mode & 077) != 0)
    return fail("use " + path, "others than its owner may read or write it");
  char text[kFileBytes + 1] = {};
  const ssize_t length = ::read(file.get(), text, sizeof text);
  HandleKey key{};
  bool good = length == static_cast<ssize_t>(kFileBytes) && text[kFileBytes - 1] == '\n';
  for (std::size_t i = 0; good && i < key.size(); ++i) {
    const char* digits = text + i * kDigits;
    const auto parsed = std::from_chars(digits, digits + kDigits, key[i], 16);
    good = parsed.ec == std::errc() && parsed.ptr == digits + kDigits;
  }
  if (!good) return fail("use " + path, "it does not hold 32 hexadecimal digits and a line feed");
  return key;
}

}  // namespace steertag::serve
