// Finds out of which format a capture file is, or what else it may be.
#pragma once

#include <variant>

#include "capture/file/classic.h"
#include "capture/file/octet_source.h"
#include "capture/file/pcapng_reader.h"

namespace steertag::capture {

using CaptureFormat = std::variant<ClassicReader, PcapngReader>;

/// The reader for the file that `source` stands at the beginning of. The error of a file that is
/// something else says what it seems to be: "it is compressed with gzip: unpack it first".
Expected<CaptureFormat, FileError> recognize(OctetSource& source);

}  // namespace steertag::capture
