// The file of this machine at one end of a copy.
#pragma once

#include <vector>

#include "client/files/file_reader.h"
#include "client/files/file_writer.h"

namespace steertag::peer {

/// A stretch of this many zero octets becomes a hole: the block size of common file systems.
inline constexpr std::size_t kHoleBytes = 4096;

/// Writes to the descriptor at the offsets given. With `sparse` aligned stretches of zeros are left
/// out; end_file must then give the file its size. The descriptor stays the caller's.
FileSink sink_to(int descriptor, bool sparse);
Expected<void, FileError> end_file(int descriptor, std::uint64_t size);

/// Reads from the descriptor; `changed` if the file has become shorter.
FileSource source_from(int descriptor);
/// Where a file of that size has data. Everything, if `sparse` is false or its file system does not
/// tell.
std::vector<Extent> data_of(int descriptor, std::uint64_t size, bool sparse);

}  // namespace steertag::peer
