// By which description of the protocol a capture is judged.
#pragma once

#include <cstddef>
#include <cstdint>

namespace steertag::grade {

/// Nothing in a message tells version 1 from its predecessors for certain, so the user says it.
enum class Profile : std::uint8_t {
  rfc8166,    // with RFC 8167, 8267 and 8797
  rfc5666,    // with RFC 5667
  prototype,  // of Callaghan et al. 2003
};

/// Connections judged at a time by a superseded profile, whose judges keep some 13 MiB at most.
inline constexpr std::size_t kMostLegacyConnectionsOpen = 12;

}  // namespace steertag::grade
