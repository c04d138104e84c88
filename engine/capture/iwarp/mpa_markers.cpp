// Markers are at every 512th octet of the stream.
#include "capture/iwarp/mpa_markers.h"

#include <algorithm>

namespace steertag::capture::iwarp {
namespace {

/// Octets of markers before `offset`.
std::uint64_t marker_bytes_before(std::uint64_t offset) {
  return offset / kMarkerSpacing * kMarkerBytes + std::min(offset % kMarkerSpacing, kMarkerBytes);
}

}  // namespace

std::uint64_t marker_bytes(std::uint64_t offset, std::uint64_t length) {
  return marker_bytes_before(offset + length) - marker_bytes_before(offset);
}

void strip_markers(std::uint64_t offset, View octets, Bytes& out) {
  while (!octets.empty()) {
    const std::uint64_t at = offset % kMarkerSpacing;
    const std::uint64_t run = at < kMarkerBytes ? kMarkerBytes - at : kMarkerSpacing - at;
    const View piece = octets.first(std::min<std::uint64_t>(run, octets.size()));
    if (at >= kMarkerBytes) out.insert(out.end(), piece.begin(), piece.end());
    octets = octets.subspan(piece.size());
    offset += piece.size();
  }
}

}  // namespace steertag::capture::iwarp
