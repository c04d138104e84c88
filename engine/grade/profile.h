// The protocol version by which a capture is judged.
#pragma once

#include <cstddef>
#include <cstdint>

namespace steertag::grade {

/// No message identifies version 1 or its predecessors for certain, so the user selects the
/// profile.
enum class Profile : std::uint8_t {
  rfc8166,    // with RFC 8167, 8267 and 8797
  rfc5666,    // with RFC 5667
  prototype,  // of Callaghan et al. 2003
};

/// Connections judged at a time under a superseded profile. Such a judge takes at most about 13
/// MiB.
inline constexpr std::size_t kMostLegacyConnectionsOpen = 12;

}  // namespace steertag::grade
