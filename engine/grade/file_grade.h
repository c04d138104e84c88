// Grades a capture file piece by piece.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "capture/file/capture_file.h"
#include "capture/reader.h"
#include "grade/grader.h"

namespace steertag::grade {

/// The report is that of what could be read: a file that is damaged, or ends too early, is graded
/// up to there.
class FileGrade {
 public:
  /// `path` as CaptureFile::open takes it. Fails if nothing of the file can be read.
  static Expected<std::unique_ptr<FileGrade>, capture::FileError> open(
      const std::string& path, const capture::ReaderOptions& options = {},
      NoteSink* notes = nullptr, capture::Interrupted interrupted = {},
      Profile profile = Profile::rfc8166);
  FileGrade(const FileGrade&) = delete;
  FileGrade& operator=(const FileGrade&) = delete;

  /// Reads on by some `octets`, at least by one packet; true when the file is over, and the report
  /// whole.
  bool step(std::uint64_t octets);

  const Report& report() const { return grader_.report(); }
  const capture::ReaderCounts& counts() const { return reader_.counts(); }
  const capture::CaptureFile& file() const { return file_; }
  /// What ended the reading, if it was not the file's end.
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
