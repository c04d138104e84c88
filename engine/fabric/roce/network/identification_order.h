// The IPv4 identifications of a peer's packets, and which one may come next.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "fabric/roce/network/segment_run.h"
#include "net/clock.h"

namespace steertag::fabric::roce {

/// Finds out packets that are damaged although their invariant CRC seems right. The CRC covers the
/// identification, which a socket does not report. Any of 2^16 may be meant, so one of 2^16 damaged
/// packets passes. Few of those have an identification that their sender would use now:
///
/// - Linux counts up for each address, and skips at most the ticks since its last packet
///   (ip_idents_reserve).
/// - A socket of ours sends a packet's place in its run.
/// - A peer whose packets follow no order may send any.
class IdentificationOrder {
 public:
  /// Packets between two of a connection: those of others, and lost ones.
  static constexpr std::int64_t kMostBetween = 256;

  /// Whether the peer may have sent it now. The first of two that do not fit is taken for damaged.
  bool takes(std::uint16_t identification, Time now) {
    if (identification < SegmentRun::kMostSegments || any_ || follows(identification, now)) {
      strange_.reset();
    } else {
      // Two of the same are one packet, which the network has doubled.
      any_ = strange_ && *strange_ != identification;
      strange_ = identification;
      if (!any_) return false;
    }
    begun_ = true;
    if (identification >= SegmentRun::kMostSegments) last_ = {identification, now};
    return true;
  }

 private:
  struct Last {
    std::uint16_t identification = 0;
    Time at = 0;
  };

  // The network may have swapped it with the last one.
  bool follows(std::uint16_t identification, Time now) const {
    constexpr Time kTick = 1'000'000;  // Linux has at most 1000 a second
    if (!last_) return !begun_;
    const auto step = static_cast<std::int16_t>(identification - last_->identification);
    return std::abs(step) <= kMostBetween + (now - last_->at) / kTick;
  }

  bool begun_ = false;
  bool any_ = false;
  std::optional<Last> last_;  // but for those that are places
  std::optional<std::uint16_t> strange_;
};

}  // namespace steertag::fabric::roce
