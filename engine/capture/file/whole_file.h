// An output file that is replaced atomically: it appears complete, or not at all.
#pragma once

#include <fstream>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "capture/file/file_error.h"
#include "support/expected.h"

namespace steertag::capture {

/// Names to try for the temporary file. Programs that died leave theirs behind.
inline constexpr int kMostPartNames = 100;
/// Octets written at a time.
inline constexpr std::size_t kWriteBytes = std::size_t{256} << 10;

class WholeFile {
 public:
  /// The output will be at `path`; an existing file stays until commit(). A symbolic link is
  /// followed. A device or FIFO is written directly.
  static Expected<WholeFile, FileError> create(const std::string& path);
  WholeFile(WholeFile&& other) noexcept = default;
  WholeFile& operator=(WholeFile&&) = delete;
  /// Removes the temporary file unless it was committed.
  ~WholeFile();

  std::ostream& out() { return *out_; }
  /// Renames the file to its path, if everything could be written.
  Expected<void, FileError> commit();

 private:
  /// A path that is empty after a move.
  struct Path {
    std::string text;
    explicit Path(std::string given) : text(std::move(given)) {}
    Path(Path&& other) noexcept : text(std::move(other.text)) { other.text.clear(); }
  };
  WholeFile(std::string name, std::string stamp, std::string part);

  std::string name_;   // as passed in
  std::string stamp_;  // after symbolic links
  Path part_;          // of the temporary file; empty if there is none
  std::unique_ptr<char[]> buffer_;
  std::unique_ptr<std::ofstream> out_;  // uses the buffer
};

}  // namespace steertag::capture
