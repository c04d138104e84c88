// The octets of a file in order, through one buffer that is read in large pieces.
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

/// The buffer's size unless one record is longer: large enough that the calls cost nothing beside
/// the copy by the kernel, small enough to stay in a processor's cache.
inline constexpr std::size_t kReadBytes = std::size_t{512} << 10;

/// Asked now and then while octets of a pipe are awaited: true ends the reading.
using Interrupted = std::function<bool()>;

class OctetSource {
 public:
  /// A file, a FIFO, or "-" for standard input.
  static Expected<OctetSource, FileError> open(const std::string& path,
                                               Interrupted interrupted = {});
  /// Octets that are in memory already and stay there.
  OctetSource(View octets, std::string name);
  OctetSource(OctetSource&& other) noexcept;
  OctetSource& operator=(OctetSource&&) = delete;
  ~OctetSource();

  /// The next `wanted` octets, and what is behind them if it is there. Fewer only at the end of the
  /// file, or if reading failed, which failure() tells. Valid until the next call.
  View look(std::size_t wanted) {
    if (end_ - begin_ < wanted) fill(wanted);
    return {data_ + begin_, end_ - begin_};
  }
  /// Goes past octets that look() has shown.
  void skip(std::size_t octets) {
    begin_ += octets;
    offset_ += octets;
  }
  /// Octets gone past.
  std::uint64_t offset() const { return offset_; }
  /// Of the whole file, if it is one that has a size.
  std::optional<std::uint64_t> size() const { return size_; }
  const std::string& name() const { return name_; }
  const std::optional<FileError>& failure() const { return failure_; }
  /// Whether the file at `path` is the same one.
  bool is_also(const std::string& path) const;

 private:
  OctetSource(int descriptor, std::string name, std::optional<std::uint64_t> size,
              Interrupted interrupted);
  bool await_octets();
  void fill(std::size_t wanted);
  void make_room(std::size_t wanted);

  int descriptor_ = -1;  // none if in memory
  std::string name_;
  Interrupted interrupted_;
  std::optional<std::uint64_t> size_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t capacity_ = 0;
  const std::byte* data_ = nullptr;  // the buffer, or what is in memory
  std::size_t begin_ = 0;            // of what was not gone past, in the data
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
  bool ended_ = false;
  std::optional<FileError> failure_;
};

}  // namespace steertag::capture
