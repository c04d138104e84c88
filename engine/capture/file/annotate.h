// Copies a capture to pcapng with comments on some of its frames.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "capture/file/file_error.h"
#include "capture/file/octet_source.h"
#include "support/expected.h"

namespace steertag::capture {

/// Frame number -> comments, in UTF-8. Of one frame trace::kMaxComments are written, each cut at
/// trace::kMaxCommentBytes.
using FrameComments = std::map<std::uint64_t, std::vector<std::string>>;

struct Annotated {
  std::uint64_t frames = 0;  // in the copy
  std::uint64_t commented =
      0;  // frames that got their comments; the others of the map are no packets
  /// Why the copy ends before the input does; what stands before the damage was copied.
  std::optional<FileError> damage;
};

/// Copies the file `input` to `output`. A pcapng file keeps every block as it is but for comments
/// and the lengths of its sections; Simple and obsolete Packet Blocks that get comments become
/// Enhanced ones, since the former have no options and nobody writes the latter. A pcap file
/// becomes one section, with the resolution that it had; `application` is what its header names.
/// The output is in its place only once it is whole, and may not be the input.
Expected<Annotated, FileError> annotate(const std::string& input, const std::string& output,
                                        const FrameComments& comments,
                                        std::string_view application);

/// The same from a source that stands at its beginning to a stream; the stream's failure state
/// tells whether everything was written.
Expected<Annotated, FileError> annotate(OctetSource& input, std::ostream& out,
                                        const FrameComments& comments,
                                        std::string_view application);

}  // namespace steertag::capture
