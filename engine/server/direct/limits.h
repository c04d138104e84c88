// The named limits of direct access in the reference server, and why each has its value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace steertag::peer {

/// Octets of a file in one frame: the block of the storage in memory.
inline constexpr std::uint32_t kDirectBlockBytes = 65536;
/// References that one call grants anew: 4 MiB are copied and summed up in about a millisecond, for
/// which all other clients wait.
inline constexpr std::size_t kMostNewGrants = 64;
/// Between two looks for leases that are over. It only delays how soon memory is free.
inline constexpr std::chrono::milliseconds kLeaseCheckInterval{1000};

struct DirectLimits {
  /// Users, each with a protection domain and a connection of its own.
  std::size_t users = 64;
  /// Frames of one user: 32 MiB of the largest.
  std::size_t frames_of_user = 512;
  /// Frames of all: 128 MiB, half of what the storage in memory holds by default.
  std::size_t frames = 2048;
  /// How long a frame stays registered after its grant, and a ticket is good.
  std::chrono::seconds lease{60};
};

}  // namespace steertag::peer
