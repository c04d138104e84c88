// A file that comes into its place as a whole, or not at all.
#pragma once

#include <fstream>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "capture/file/file_error.h"
#include "support/expected.h"

namespace steertag::capture {

/// Names that are tried for the unfinished file beside its place; others are left by programs that
/// died.
inline constexpr int kMostPartNames = 100;
/// What is written at a time.
inline constexpr std::size_t kWriteBytes = std::size_t{256} << 10;

class WholeFile {
 public:
  /// The file will be at `path`; what is there stays until commit(). A symbolic link keeps leading
  /// to it; a device or FIFO is written as it is.
  static Expected<WholeFile, FileError> create(const std::string& path);
  WholeFile(WholeFile&& other) noexcept = default;
  WholeFile& operator=(WholeFile&&) = delete;
  /// Removes what was not committed.
  ~WholeFile();

  std::ostream& out() { return *out_; }
  /// Puts the file into its place, if everything could be written.
  Expected<void, FileError> commit();

 private:
  /// A path that is empty once it was moved from.
  struct Path {
    std::string text;
    explicit Path(std::string given) : text(std::move(given)) {}
    Path(Path&& other) noexcept : text(std::move(other.text)) { other.text.clear(); }
  };
  WholeFile(std::string name, std::string place, std::string part);

  std::string name_;   // as it was given
  std::string place_;  // where it leads to
  Path part_;          // of the unfinished file; empty if there is none
  std::unique_ptr<char[]> buffer_;
  std::unique_ptr<std::ofstream> out_;  // uses the buffer
};

}  // namespace steertag::capture
