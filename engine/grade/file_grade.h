// Grades a capture file in steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "capture/file/capture_file.h"
#include "capture/reader.h"
#include "grade/grader.h"

namespace steertag::grade {

/// The report covers what could be read. A damaged or truncated file is graded up to the damage.
class FileGrade {
 public:
  /// `path` is as for CaptureFile::open. Fails if the file cannot be read at all.
  static Expected<std::unique_ptr<FileGrade>, capture::FileError> open(
      const std::string& path, const capture::ReaderOptions& options = {},
      NoteSink* notes = nullptr, capture::Interrupted interrupted = {},
      Profile profile = Profile::rfc8166);
  FileGrade(const FileGrade&) = delete;
  FileGrade& operator=(const FileGrade&) = delete;

  /// Reads about `octets` more, and at least one packet. Returns true at the end of the file, when
  /// the report is complete.
  bool step(std::uint64_t octets);

  const Report& report() const { return grader_.report(); }
  const capture::ReaderCounts& counts() const { return reader_.counts(); }
  const capture::CaptureFile& file() const { return file_; }
  /// The error that ended the reading, if it was not the file's end.
  const std::optional<capture::FileError>& error() const { return error_; }

 private:
  FileGrade(capture::CaptureFile file, const capture::ReaderOptions& options, NoteSink* notes,
            Profile profile);
  void end();

  capture::CaptureFile file_;
  Grader grader_;
  capture::Reader reader_;
  std::optional<capture::FileError> error_;
  bool over_ = false;
};

}  // namespace steertag::grade
