// Opening regular files, and keeping some of them open.
#include "server/directory/open_files.h"

#include <fcntl.h>

namespace steertag::peer {

Result<int> OpenFiles::open(const HostRoot& root, const HostObject& object, int access) {
  auto opened = root.reopen(object, access);
  if (!opened) return tl::unexpected(opened.error());
  File& file = files_.put(object.node());
  file = {std::move(*opened), access != O_WRONLY, access != O_RDONLY, clock_().seconds};
  return file.descriptor.get();
}

Result<int> OpenFiles::readable(const HostRoot& root, const HostObject& object) {
  const File* file = find(object.node());
  if (file && file->reads) return file->descriptor.get();
  return open(root, object, O_RDONLY);
}

Result<int> OpenFiles::writable(const HostRoot& root, const HostObject& object) {
  const File* file = find(object.node());
  if (file && file->writes) return file->descriptor.get();
  auto both = open(root, object, O_RDWR);
  // A file may be writable for its owner and not readable, which only matters if we are not root.
  if (!both && both.error() == Status::access) return open(root, object, O_WRONLY);
  return both;
}

void OpenFiles::keep(NodeId node, Descriptor descriptor) {
  files_.put(node) = {std::move(descriptor), true, true, clock_().seconds};
}

const OpenFiles::File* OpenFiles::find(NodeId node) {
  File* file = files_.find(node);
  if (file) file->used_seconds = clock_().seconds;
  return file;
}

void OpenFiles::close_idle() {
  if (files_.size() == 0) return;
  const std::int64_t now = clock_().seconds;
  files_.drop_while(
      [&](const File& file) { return now - file.used_seconds >= kOpenFileIdle.count(); });
}

}  // namespace steertag::peer
