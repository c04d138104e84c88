// Detects the format of a capture file.
#pragma once

#include <variant>

#include "capture/file/classic.h"
#include "capture/file/octet_source.h"
#include "capture/file/pcapng_reader.h"

namespace steertag::capture {

using CaptureFormat = std::variant<ClassicReader, PcapngReader>;

/// The reader for the file at the beginning of `source`. For another format the error names it: "it
/// is compressed with gzip: unpack it first".
Expected<CaptureFormat, FileError> recognize(OctetSource& source);

}  // namespace steertag::capture
