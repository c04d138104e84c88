// Makes the storage of the server.
#include "serve/storage.h"

#include <filesystem>

#include "serve/key_file.h"
#include "server/directory/directory_backend.h"
#include "server/storage/memory_backend.h"

namespace steertag::serve {
namespace {

/// Whether clients of the export could reach the file.
bool lies_within(const std::string& file, const std::string& directory) {
  std::error_code error;
  const auto inner = std::filesystem::weakly_canonical(file, error);
  if (error) return false;
  const auto outer = std::filesystem::canonical(directory, error);
  if (error) return false;
  const auto relative = inner.lexically_relative(outer);
  return !relative.empty() && *relative.begin() != "..";
}

/// Why the server's own files cannot be where the options say; nothing if they can.
std::optional<std::string> misplaced(const Options& options, const std::string& path) {
  for (const std::string& file : {options.key_file, options.recovery_file}) {
    if (!file.empty() && lies_within(file, path))
      return "cannot use " + file + ": it lies within " + path + ", where clients could reach it";
  }
  return {};
}

}  // namespace

Expected<std::unique_ptr<peer::Backend>, std::string> make_storage(
    const Options& options, peer::Clock clock, const fabric::RandomSource& random) {
  if (!options.export_directory) {
    peer::MemoryLimits limits;
    limits.total_bytes = options.memory_mib << 20;
    return std::make_unique<peer::MemoryBackend>(std::move(clock), random, limits);
  }
  const std::string& path = *options.export_directory;
  peer::DirectoryOptions directory;
  directory.path = path;
  directory.read_only = options.read_only;
  directory.key = {random(), random()};
  directory.shares_handles = options.data_server.has_value();  // with its metadata server
  // Before a file of the server's own is made for nothing.
  if (const auto root = peer::HostRoot::open(path); !root)
    return Unexpected<std::string>(root.error());
  if (const auto why = misplaced(options, path)) return Unexpected<std::string>(*why);
  if (!options.key_file.empty()) {
    const auto key = load_key(options.key_file, random);
    if (!key) return Unexpected<std::string>(key.error());
    directory.key = *key;
  }
  auto made = peer::DirectoryBackend::open(directory, clock, random);
  if (!made) return Unexpected<std::string>(made.error());
  if (!options.unstable_mib) return std::move(*made);
  return std::make_unique<peer::VolatileBackend>(
      std::move(*made), std::size_t{*options.unstable_mib} << 20, std::move(clock));
}

}  // namespace steertag::serve
