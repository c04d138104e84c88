// Texts of errors about files.
#include "capture/file/file_error.h"

namespace steertag::capture {

std::string_view sentence(FileFault fault) {
  switch (fault) {
    case FileFault::cannot_open:
      return "cannot be opened";
    case FileFault::cannot_read:
      return "cannot be read";
    case FileFault::cannot_write:
      return "cannot be written";
    case FileFault::not_a_capture:
      return "not a capture file that can be read";
    case FileFault::truncated:
      return "truncated";
    case FileFault::damaged:
      return "damaged";
    case FileFault::too_large:
      return "beyond a limit";
  }
  return "unknown fault";
}

std::string FileError::message() const {
  std::string text = file + ": " + std::string(sentence(fault));
  if (offset) text += " at octet " + std::to_string(*offset);
  return text + ": " + detail;
}

}  // namespace steertag::capture
