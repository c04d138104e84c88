// Opens files, pipes and standard input, and fills the buffer.
#include "capture/file/octet_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace steertag::capture {
namespace {

/// Why no capture can be read from the file; empty if one can.
std::string_view unfit(int descriptor, const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return "it is a directory";
  if (S_ISBLK(status.st_mode)) return "it is a block device, not a capture file";
  if (S_ISCHR(status.st_mode) && isatty(descriptor) == 1) {
    return "it is a terminal: give a file, or a capture through a pipe";
  }
  return {};
}

/// How often a wait for octets checks for an interruption. A signal may arrive just before the
/// wait.
constexpr int kLookMs = 200;

FileError cannot_open(const std::string& name, std::string detail) {
  return {FileFault::cannot_open, name, std::nullopt, std::move(detail)};
}

}  // namespace

Expected<OctetSource, FileError> OctetSource::open(const std::string& path,
                                                   Interrupted interrupted) {
  const bool standard = path == "-";
  const std::string name = standard ? "standard input" : path;
  const int descriptor = standard ? dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Unexpected<FileError>(cannot_open(name, std::strerror(errno)));
  struct stat status {};
  std::string why;
  if (fstat(descriptor, &status) != 0) {
    why = std::strerror(errno);
  } else {
    why = unfit(descriptor, status);
  }
  if (!why.empty()) {
    close(descriptor);
    return Unexpected<FileError>(cannot_open(name, std::move(why)));
  }
  std::optional<std::uint64_t> size;
  if (S_ISREG(status.st_mode)) {
    size = static_cast<std::uint64_t>(status.st_size);
    // A hint only: the file is read once, from start to end.
    static_cast<void>(posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL));
  }
  return OctetSource(descriptor, name, size, std::move(interrupted));
}

OctetSource::OctetSource(int descriptor, std::string name, std::optional<std::uint64_t> size,
                         Interrupted interrupted)
    : descriptor_(descriptor),
      name_(std::move(name)),
      interrupted_(std::move(interrupted)),
      size_(size) {}

OctetSource::OctetSource(View octets, std::string name)
    : name_(std::move(name)),
      size_(octets.size()),
      data_(octets.data()),
      end_(octets.size()),
      ended_(true) {}

OctetSource::OctetSource(OctetSource&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)),
      interrupted_(std::move(other.interrupted_)),
      size_(other.size_),
      buffer_(std::move(other.buffer_)),
      capacity_(std::exchange(other.capacity_, 0)),
      data_(std::exchange(other.data_, nullptr)),
      begin_(std::exchange(other.begin_, 0)),
      end_(std::exchange(other.end_, 0)),
      offset_(other.offset_),
      ended_(std::exchange(other.ended_, true)),
      failure_(std::move(other.failure_)) {}

OctetSource::~OctetSource() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool OctetSource::is_also(const std::string& path) const {
  struct stat mine {};
  struct stat its {};
  if (descriptor_ < 0 || fstat(descriptor_, &mine) != 0) return false;
  return stat(path.c_str(), &its) == 0 && mine.st_dev == its.st_dev && mine.st_ino == its.st_ino;
}

/// Moves the rest to the buffer's start, or into a larger buffer. The buffer grows only by what has
/// arrived. A false length therefore takes no memory.
void OctetSource::make_room(std::size_t wanted) {
  const std::size_t left = end_ - begin_;
  if (left == capacity_ || capacity_ == 0) {
    capacity_ = std::max(kReadBytes, std::min(2 * capacity_, wanted + kReadBytes));
    auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity_);
    if (left > 0) std::memcpy(larger.get(), data_ + begin_, left);
    buffer_ = std::move(larger);
  } else if (left > 0) {
    std::memmove(buffer_.get(), data_ + begin_, left);
  }
  data_ = buffer_.get();
  begin_ = 0;
  end_ = left;
}

/// False if the wait for a pipe was interrupted.
bool OctetSource::await_octets() {
  if (size_ || !interrupted_) return true;
  pollfd wanted{descriptor_, POLLIN, 0};
  while (true) {
    const int ready = poll(&wanted, 1, kLookMs);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;  // the next read reports it
    if (!interrupted_()) continue;
    failure_ = FileError{FileFault::cannot_read, name_, offset_ + (end_ - begin_), "interrupted"};
    ended_ = true;
    return false;
  }
}

void OctetSource::fill(std::size_t wanted) {
  while (!ended_ && end_ - begin_ < wanted) {
    if (end_ == capacity_ || begin_ > 0) make_room(wanted);
    if (!await_octets()) return;
    const ssize_t got = read(descriptor_, buffer_.get() + end_, capacity_ - end_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      failure_ =
          FileError{FileFault::cannot_read, name_, offset_ + (end_ - begin_), std::strerror(errno)};
    }
    if (got <= 0) {
      ended_ = true;
    } else {
      end_ += static_cast<std::size_t>(got);
    }
  }
}

}  // namespace steertag::capture
