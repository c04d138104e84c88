// Removes markers from a stream of FPDUs (RFC 5044 4.3).
#pragma once

#include <cstdint>

#include "support/bytes.h"

namespace steertag::capture::iwarp {

inline constexpr std::uint64_t kMarkerSpacing = 512;
inline constexpr std::uint64_t kMarkerBytes = 4;

/// Octets of markers among `length` octets, which begin `offset` octets after the stream's start.
/// The first marker is at the start.
std::uint64_t marker_bytes(std::uint64_t offset, std::uint64_t length);

/// Appends the octets to `out`, without markers.
void strip_markers(std::uint64_t offset, View octets, Bytes& out);

}  // namespace steertag::capture::iwarp
