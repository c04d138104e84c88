// Reading and writing at offsets, with holes.
#include "client/files/local_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "net/socket.h"

namespace steertag::peer {
namespace {

FileError error_here(std::string_view what) {
  return {FileErrc::local_file, std::string(what) + ": " + net::error_text(errno), 0, {}};
}

bool is_zero(View octets) {
  return std::all_of(octets.begin(), octets.end(),
                     [](std::byte octet) { return octet == std::byte{0}; });
}

Expected<void, FileError> write_at(int descriptor, std::uint64_t offset, View data) {
  while (!data.empty()) {
    const ssize_t count =
        ::pwrite(descriptor, data.data(), data.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return tl::unexpected(error_here("write"));
    offset += static_cast<std::uint64_t>(count);
    data = data.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Expected<void, FileError> write_sparse(int descriptor, std::uint64_t offset, View data) {
  std::size_t begin = 0;  // of what is to be written
  std::size_t at = 0;
  while (at < data.size()) {
    const std::size_t to_boundary = kHoleBytes - (offset + at) % kHoleBytes;
    const std::size_t length = std::min(to_boundary, data.size() - at);
    if (is_zero(data.subspan(at, length))) {
      if (auto written = write_at(descriptor, offset + begin, data.subspan(begin, at - begin));
          !written)
        return written;
      begin = at + length;
    }
    at += length;
  }
  return write_at(descriptor, offset + begin, data.subspan(begin));
}

}  // namespace

FileSink sink_to(int descriptor, bool sparse) {
  return [descriptor, sparse](std::uint64_t offset, View data) {
    return sparse ? write_sparse(descriptor, offset, data) : write_at(descriptor, offset, data);
  };
}

Expected<void, FileError> end_file(int descriptor, std::uint64_t size) {
  if (::ftruncate(descriptor, static_cast<off_t>(size)) != 0)
    return tl::unexpected(error_here("truncate"));
  return {};
}

FileSource source_from(int descriptor) {
  return [descriptor](std::uint64_t offset, MutableView into) -> Expected<void, FileError> {
    while (!into.empty()) {
      const ssize_t count =
          ::pread(descriptor, into.data(), into.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return tl::unexpected(error_here("read"));
      if (count == 0)
        return tl::unexpected(
            FileError{FileErrc::changed, "the local file has become shorter", 0, {}});
      offset += static_cast<std::uint64_t>(count);
      into = into.subspan(static_cast<std::size_t>(count));
    }
    return {};
  };
}

std::vector<Extent> data_of(int descriptor, std::uint64_t size, bool sparse) {
  const std::vector<Extent> everything{{0, size}};
  if (!sparse) return everything;
  std::vector<Extent> extents;
  std::uint64_t at = 0;
  while (at < size) {  // every round ends farther on
    const off_t data = ::lseek(descriptor, static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // a hole up to the end
    if (data < 0) return everything;
    const off_t hole = ::lseek(descriptor, data, SEEK_HOLE);
    if (hole <= data) return everything;
    const std::uint64_t begin = std::min(static_cast<std::uint64_t>(data), size);
    const std::uint64_t end = std::min(static_cast<std::uint64_t>(hole), size);
    if (end > begin) extents.push_back({begin, end - begin});
    at = static_cast<std::uint64_t>(hole);
  }
  return extents;
}

}  // namespace steertag::peer
