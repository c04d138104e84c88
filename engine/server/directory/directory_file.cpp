// Contents of regular files and links of a directory export.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <limits>

#include "server/directory/directory_backend.h"
#include "server/directory/host_error.h"

namespace steertag::peer {
namespace {

constexpr std::uint64_t kLargestOffset = std::numeric_limits<off_t>::max();

/// Up to `wanted` octets; fewer only at the end of the file, -1 with errno.
ssize_t read_fully(int file, std::byte* to, std::size_t wanted, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < wanted) {  // grows in every round, but for signals
    const ssize_t got = ::pread(file, to + done, wanted - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

bool write_fully(int file, View data, std::uint64_t offset) {
  while (!data.empty()) {  // shrinks in every round, but for signals
    const ssize_t put = ::pwrite(file, data.data(), data.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    data = data.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return true;
}

}  // namespace

Result<std::uint32_t> DirectoryBackend::read(NodeId node, std::uint64_t offset, std::uint32_t count,
                                             std::vector<Slice>& out) {
  const auto opened = regular(node);
  if (!opened) return tl::unexpected(opened.error());
  const std::uint64_t size = opened->status.stx_size;
  if (offset >= size || count == 0) return std::uint32_t{0};
  const auto file = host_->files.readable(host_->tree.root(), *opened);
  if (!file) return tl::unexpected(file.error());
  // A buffer of our own: a file that is mapped and then cut on the host would end the server.
  const std::size_t wanted =
      static_cast<std::size_t>(std::min<std::uint64_t>(count, size - offset));
  const auto buffer = std::make_shared_for_overwrite<std::byte[]>(wanted);
  const ssize_t length = read_fully(*file, buffer.get(), wanted, offset);
  if (length < 0) return tl::unexpected(from_errno(errno));
  if (length > 0) out.push_back({View(buffer.get(), static_cast<std::size_t>(length)), buffer});
  return static_cast<std::uint32_t>(length);
}

Result<Slice> DirectoryBackend::read_link(NodeId node) const {
  const auto opened = object(node);
  if (!opened) return tl::unexpected(opened.error());
  if (opened->type() != FileType::link) return tl::unexpected(Status::invalid);
  const auto text = std::make_shared<Bytes>(PATH_MAX);  // no link of the host is longer
  const ssize_t length = ::readlinkat(opened->descriptor.get(), "",
                                      reinterpret_cast<char*>(text->data()), text->size());
  if (length < 0) return tl::unexpected(from_errno(errno));
  text->resize(static_cast<std::size_t>(length));
  return Slice{View(*text), text};
}

Status DirectoryBackend::write(NodeId node, std::uint64_t offset, View data) {
  if (read_only_) return Status::read_only;
  const auto opened = regular(node);
  if (!opened) return opened.error();
  if (data.empty()) return Status::ok;  // RFC 1813 3.3.7: a WRITE of nothing changes nothing
  if (offset > kLargestOffset || data.size() > kLargestOffset - offset) return Status::too_big;
  const auto file = host_->files.writable(host_->tree.root(), *opened);
  if (!file) return file.error();
  mark_changed(node);
  if (const Status status = drop_set_id(*opened); status != Status::ok) return status;
  return write_fully(*file, data, offset) ? Status::ok : from_errno(errno);
}

Status DirectoryBackend::commit(NodeId node) {
  const auto opened = regular(node);
  if (!opened) return opened.error();
  if (read_only_) return Status::ok;
  auto file = host_->files.writable(host_->tree.root(), *opened);
  // What was written before the mode was changed has to be made permanent all the same.
  if (!file && file.error() == Status::access)
    file = host_->files.readable(host_->tree.root(), *opened);
  if (!file) return file.error();
  if (::fsync(*file) == 0) {
    // Open for writing it could not be executed on the host. Only root can surely open it again.
    if (gives_away_) host_->files.forget(node);
    return Status::ok;
  }
  const Status status = from_errno(errno);
  // The host drops what it could not write, so clients have to send all of it again.
  verifier_ = random_();
  return status;
}

}  // namespace steertag::peer
