// The named limits of direct access in the reference server, and why each has its value.
#pragma once

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace steertag::peer {

/// Octets of a file in one frame: at most the block of the storage in memory. Smaller ones than a
/// page are not worth an RDMA Read.
inline constexpr std::uint32_t kDirectBlockBytes = 65536;
inline constexpr std::uint32_t kSmallestDirectBlockBytes = 4096;
constexpr bool is_direct_block(std::uint32_t bytes) {
  return std::has_single_bit(bytes) && bytes >= kSmallestDirectBlockBytes &&
         bytes <= kDirectBlockBytes;
}
/// References that one call grants anew: 4 MiB are copied and summed up in about a millisecond, for
/// which all other clients wait.
inline constexpr std::size_t kMostNewGrants = 64;
/// Between two looks for leases that are over. It only delays how soon memory is free.
inline constexpr std::chrono::milliseconds kLeaseCheckInterval{1000};

struct DirectLimits {
  /// See is_direct_block.
  std::uint32_t block_bytes = kDirectBlockBytes;
  /// Users, each with a protection domain and a connection of its own.
  std::size_t users = 64;
  /// Users of one source, as net::SourceLimits counts them: half, so that no host keeps others out.
  std::size_t users_of_source = 32;
  /// Frames of one user: 32 MiB of the largest.
  std::size_t frames_of_user = 512;
  /// Frames of all: 128 MiB, half of what the storage in memory holds by default.
  std::size_t frames = 2048;
  /// Frames of one source.
  std::size_t frames_of_source = 1024;
  /// How long a frame stays registered after its grant, and a ticket is good.
  std::chrono::seconds lease{60};
};

}  // namespace steertag::peer
