// Opening regular files, and keeping some of them open.
#include "server/directory/open_files.h"

#include <fcntl.h>

namespace steertag::peer {

Result<int> OpenFiles::open(const HostRoot& root, const HostObject& object, int access) {
  auto opened = root.reopen(object, access);
  if (!opened) return tl::unexpected(opened.error());
  File& file = files_.put(object.node());
  file = {std::move(*opened), access != O_WRONLY, access != O_RDONLY};
  return file.descriptor.get();
}

Result<int> OpenFiles::readable(const HostRoot& root, const HostObject& object) {
  const File* file = files_.find(object.node());
  if (file && file->reads) return file->descriptor.get();
  return open(root, object, O_RDONLY);
}

Result<int> OpenFiles::writable(const HostRoot& root, const HostObject& object) {
  const File* file = files_.find(object.node());
  if (file && file->writes) return file->descriptor.get();
  auto both = open(root, object, O_RDWR);
  // A file may be writable for its owner and not readable, which only matters if we are not root.
  if (!both && both.error() == Status::access) return open(root, object, O_WRONLY);
  return both;
}

void OpenFiles::keep(NodeId node, Descriptor descriptor) {
  files_.put(node) = {std::move(descriptor), true, true};
}

}  // namespace steertag::peer
