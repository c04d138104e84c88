// Writes the temporary file in the same folder, so that it can be renamed.
#include "capture/file/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace steertag::capture {
namespace {

FileError cannot_write(const std::string& name, std::string detail) {
  return {FileFault::cannot_write, name, std::nullopt, std::move(detail)};
}

FileError cannot_write(const std::string& name) {
  return cannot_write(name, errno != 0 ? std::strerror(errno) : "the stream failed");
}

/// Creates a new empty file. Returns an empty text, and sets errno, on failure.
std::string new_file_beside(const std::string& stamp) {
  for (int count = 0; count < kMostPartNames; ++count) {
    std::string part = stamp + ".part" + std::to_string(count);
    const int descriptor = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      close(descriptor);
      return part;
    }
    if (errno != EEXIST) break;
  }
  return {};
}

}  // namespace

WholeFile::WholeFile(std::string name, std::string stamp, std::string part)
    : name_(std::move(name)), stamp_(std::move(stamp)), part_(std::move(part)) {
  const std::string& opened = part_.text.empty() ? stamp_ : part_.text;
  buffer_ = std::make_unique_for_overwrite<char[]>(kWriteBytes);
  out_ = std::make_unique<std::ofstream>();
  out_->rdbuf()->pubsetbuf(buffer_.get(), kWriteBytes);
  errno = 0;
  out_->open(opened, std::ios::binary);
}

Expected<WholeFile, FileError> WholeFile::create(const std::string& path) {
  struct stat status {};
  std::string stamp = path;
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists) {
    if (S_ISDIR(status.st_mode))
      return Unexpected<FileError>(cannot_write(path, "it is a directory"));
    if (access(path.c_str(), W_OK) != 0) return Unexpected<FileError>(cannot_write(path));
    const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                           &std::free);
    if (real) stamp = real.get();
  }
  std::string part;
  if (!exists || S_ISREG(status.st_mode)) {
    part = new_file_beside(stamp);
    if (part.empty()) return Unexpected<FileError>(cannot_write(path));
  }
  WholeFile file(path, std::move(stamp), std::move(part));
  if (!*file.out_) return Unexpected<FileError>(cannot_write(path));
  return file;
}

WholeFile::~WholeFile() {
  if (!part_.text.empty()) unlink(part_.text.c_str());
}

Expected<void, FileError> WholeFile::commit() {
  if (!*out_) return Unexpected<FileError>(cannot_write(name_));
  errno = 0;
  out_->close();
  if (!*out_) return Unexpected<FileError>(cannot_write(name_));
  if (part_.text.empty()) return {};
  if (std::rename(part_.text.c_str(), stamp_.c_str()) != 0)
    return Unexpected<FileError>(cannot_write(name_));
  part_.text.clear();
  return {};
}

}  // namespace steertag::capture
