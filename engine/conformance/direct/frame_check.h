// Checks a frame of direct access while its octets come, without keeping them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "rdma/iwarp/crc32c.h"
#include "support/bytes.h"

namespace steertag::conformance {

/// What a frame has besides the octets of its block: generation and check before, and the
/// generation again behind them (docs/direct-access.md).
inline constexpr std::uint64_t kFrameHeadBytes = 16;
inline constexpr std::uint64_t kFrameBytes = kFrameHeadBytes + 8;

class FrameCheck {
 public:
  /// Begins a frame with this many octets, kFrameBytes at least.
  void begin(std::uint64_t length);
  /// The next octets of it.
  void take(View octets);
  /// Octets that are not known: nothing can be said of the frame.
  void lose() { lost_ = true; }

  /// Its first generation; nothing unless all of it is known.
  std::optional<std::uint64_t> generation() const;
  /// Both generations are the same, and the check is right. Only with a generation.
  bool is_sealed() const;

 private:
  void take_one_part(View octets);

  std::uint64_t length_ = 0;
  std::uint64_t at_ = 0;
  bool lost_ = true;
  std::array<std::byte, kFrameHeadBytes> head_{};
  std::array<std::byte, kFrameBytes - kFrameHeadBytes> tail_{};
  rdma::iwarp::Crc32c crc_;
};

}  // namespace steertag::conformance
