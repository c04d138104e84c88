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

/// Frame number -> comments, in UTF-8. At most trace::kMaxComments are written for a frame, each
/// truncated at trace::kMaxCommentBytes.
using FrameComments = std::map<std::uint64_t, std::vector<std::string>>;

struct Annotated {
  std::uint64_t frames = 0;     // in the copy
  std::uint64_t commented = 0;  // frames with comments; the other keys of the map are no packets
  /// Why the copy ends early. Everything before the damage is copied.
  std::optional<FileError> damage;
};

/// Copies the file `input` to `output`.
///
/// A pcapng file keeps its blocks, except for comments and section lengths. Simple and obsolete
/// Packet Blocks with comments become Enhanced ones. The simple block has no options, and the
/// obsolete one is no longer written.
///
/// A pcap file becomes one section with the same resolution. `application` is the name in its
/// header.
///
/// The output appears only once it is complete. It must not be the input.
Expected<Annotated, FileError> annotate(const std::string& input, const std::string& output,
                                        const FrameComments& comments,
                                        std::string_view application);

/// The same from a source at its beginning to a stream. The stream's failure state shows whether
/// everything was written.
Expected<Annotated, FileError> annotate(OctetSource& input, std::ostream& out,
                                        const FrameComments& comments,
                                        std::string_view application);

}  // namespace steertag::capture
