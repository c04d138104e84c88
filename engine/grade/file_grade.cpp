// Passes a file's packets to a reader, and the reader's connections to a grader.
#include "grade/file_grade.h"

#include <utility>

namespace steertag::grade {

Expected<std::unique_ptr<FileGrade>, capture::FileError> FileGrade::open(
    const std::string& path, const capture::ReaderOptions& options, NoteSink* notes,
    capture::Interrupted interrupted, Profile profile) {
  auto file = capture::CaptureFile::open(path, std::move(interrupted));
  if (!file) return Unexpected<capture::FileError>(file.error());
  return std::unique_ptr<FileGrade>(new FileGrade(std::move(*file), options, notes, profile));
}

FileGrade::FileGrade(capture::CaptureFile file, const capture::ReaderOptions& options,
                     NoteSink* notes, Profile profile)
    : file_(std::move(file)), grader_(notes, profile), reader_(grader_, options) {}

bool FileGrade::step(std::uint64_t octets) {
  const std::uint64_t enough = file_.offset() + octets;
  while (!over_) {  // every packet consumes octets of the file
    const auto packet = file_.next();
    if (!packet) error_ = packet.error();
    if (!packet || !*packet) {
      end();
    } else {
      grader_.reading((*packet)->stamp.frame);
      reader_.read(**packet);
      if (file_.offset() >= enough) return over_;
    }
  }
  return true;
}

void FileGrade::end() {
  over_ = true;
  grader_.reading(0);
  reader_.finish();
  grader_.finish();
}

}  // namespace steertag::grade
