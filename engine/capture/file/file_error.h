// Why a capture file cannot be read or written, as a sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace steertag::capture {

enum class FileFault : std::uint8_t {
  cannot_open,
  cannot_read,
  cannot_write,
  not_a_capture,
  truncated,  // the file ends inside a record
  damaged,    // a field with a value that no writer uses
  too_large,  // above a named limit
};
/// "not a capture file" ...
std::string_view sentence(FileFault fault);

/// `detail` names the fault and the rule: "the file ends inside the packet of frame 12".
struct FileError {
  FileFault fault = FileFault::cannot_open;
  std::string file;
  std::optional<std::uint64_t> offset;  // position of the fault in the file
  std::string detail;
  /// "a.pcapng: truncated at octet 1234: the file ends ...".
  std::string message() const;
};

}  // namespace steertag::capture
