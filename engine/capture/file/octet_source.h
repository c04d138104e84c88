// The octets of a file in order, through one buffer with large reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "capture/file/file_error.h"
#include "support/bytes.h"
#include "support/expected.h"

namespace steertag::capture {

/// The buffer's size, unless one record is longer. It is large enough to make system calls cheap,
/// and small enough for a processor's cache.
inline constexpr std::size_t kReadBytes = std::size_t{512} << 10;

/// Called from time to time while a pipe has no octets. True ends the reading.
using Interrupted = std::function<bool()>;

class OctetSource {
 public:
  /// A file, a FIFO, or "-" for standard input.
  static Expected<OctetSource, FileError> open(const std::string& path,
                                               Interrupted interrupted = {});
  /// Octets in memory that must outlive this object.
  OctetSource(View octets, std::string name);
  OctetSource(OctetSource&& other) noexcept;
  OctetSource& operator=(OctetSource&&) = delete;
  ~OctetSource();

  /// The next `wanted` octets, and any buffered ones after them. Fewer only at the end of the file
  /// or after a failed read (see failure()). Valid until the next call.
  View look(std::size_t wanted) {
    if (end_ - begin_ < wanted) fill(wanted);
    return {data_ + begin_, end_ - begin_};
  }
  /// Consumes octets that look() returned.
  void skip(std::size_t octets) {
    begin_ += octets;
    offset_ += octets;
  }
  /// Octets consumed.
  std::uint64_t offset() const { return offset_; }
  /// The file's size, if it has one.
  std::optional<std::uint64_t> size() const { return size_; }
  const std::string& name() const { return name_; }
  const std::optional<FileError>& failure() const { return failure_; }
  /// Whether `path` names the same file.
  bool is_also(const std::string& path) const;

 private:
  OctetSource(int descriptor, std::string name, std::optional<std::uint64_t> size,
              Interrupted interrupted);
  bool await_octets();
  void fill(std::size_t wanted);
  void make_room(std::size_t wanted);

  int descriptor_ = -1;  // -1 if in memory
  std::string name_;
  Interrupted interrupted_;
  std::optional<std::uint64_t> size_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t capacity_ = 0;
  const std::byte* data_ = nullptr;  // the buffer, or the octets in memory
  std::size_t begin_ = 0;            // of the octets not yet consumed, in the data
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
  bool ended_ = false;
  std::optional<FileError> failure_;
};

}  // namespace steertag::capture
