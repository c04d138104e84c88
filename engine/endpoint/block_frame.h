// The frame of a block of a file, which proves itself to its reader (docs/direct-access.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "support/bytes.h"

namespace steertag::peer {

/// Generation and check before the data, and the generation again behind them.
inline constexpr std::size_t kFrameHeadOctets = 16;
inline constexpr std::size_t kFrameOctets = kFrameHeadOctets + 8;

/// The place of the data in a frame, which has kFrameOctets at least.
MutableView frame_data(MutableView frame);
/// Makes the frame valid. Its data are in place; `generation` is not 0.
void seal_frame(MutableView frame, std::uint64_t generation);
/// Makes the frame invalid and wipes its data. A reader at any moment finds the frame invalid.
void wipe_frame(MutableView frame);
/// What of a frame is compared before its data are believed.
struct FrameChecks {
  bool first_generation = true;
  bool last_generation = true;
  bool check = true;
};
/// The data, if both generations are this one and the check is right.
std::optional<View> open_frame(View frame, std::uint64_t generation, FrameChecks checks = {});

}  // namespace steertag::peer
