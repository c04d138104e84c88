// How many packets may be in flight: slow start, and congestion avoidance after a loss (RFC 5681).
#pragma once

#include <algorithm>
#include <cstdint>

#include "fabric/roce/packets/limits.h"

namespace steertag::fabric::roce {

class CongestionWindow {
 public:
  /// Starts with `first` packets, and grows to `most`.
  void start(std::uint32_t first, std::uint32_t most) {
    most_ = std::max<std::uint32_t>(most, 1);
    packets_ = std::clamp<std::uint32_t>(first, 1, most_);
    threshold_ = most_;
    arrived_ = awaited_ = 0;
  }
  std::uint32_t packets() const { return packets_; }

  /// `arrived` of the packets in flight have arrived. `full`: the window was what limited them.
  /// Otherwise nothing shows that the network can take more.
  void grow(std::uint32_t arrived, bool full) {
    awaited_ -= std::min(awaited_, arrived);
    if (!full) {
      return;
    }
    if (packets_ < threshold_) {
      packets_ = std::min(packets_ + arrived, threshold_);
      return;
    }
    // One packet for each window that arrives (RFC 5681 3.1).
    arrived_ += arrived;
    if (arrived_ >= packets_) {
      arrived_ = 0;
      packets_ = std::min(packets_ + 1, most_);
    }
  }
  /// A loss halves the window once for all that was in flight with it (RFC 5681, equation 4; RFC
  /// 6582 3.2). A packet that overtakes others makes two gaps: before it, and where it was dropped.
  void lose(std::uint32_t in_flight, bool timed_out) {
    if (awaited_ > 0 && !timed_out) {
      return;
    }
    threshold_ = packets_ = std::min(most_, std::max(kLeastWindow, packets_ / 2));
    arrived_ = 0;
    awaited_ = in_flight;
  }

 private:
  std::uint32_t most_ = 1;
  std::uint32_t packets_ = 1;
  std::uint32_t threshold_ = 1;  // of slow start
  std::uint32_t arrived_ = 0;    // since the last growth beyond it
  std::uint32_t awaited_ = 0;    // of those in flight when it was halved
};

}  // namespace steertag::fabric::roce
