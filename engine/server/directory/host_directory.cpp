// Directory entries by readdir(3).
#include "server/directory/host_directory.h"

#include <dirent.h>

#include <cerrno>
#include <memory>

#include "server/directory/host_error.h"
#include "server/directory/limits.h"
#include "server/storage/entry_name.h"

namespace steertag::peer {

Status each_entry(Descriptor directory, const std::function<bool(const HostEntry&)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(directory.get()), ::closedir);
  if (!stream) return from_errno(errno);
  directory.release();  // the stream's now
  for (std::size_t count = 0; count < kMostDirectoryEntries; ++count) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (!entry) return errno == 0 ? Status::ok : from_errno(errno);
    const std::string_view name = entry->d_name;
    if (is_dots(name)) continue;
    const bool may_be_directory = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
    if (!visit({entry->d_ino, name, may_be_directory})) return Status::ok;
  }
  return Status::too_big;
}

}  // namespace steertag::peer
