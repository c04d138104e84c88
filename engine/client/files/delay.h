// How long a client waits before it tries again what the server cannot do yet.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "client/files/remote_files.h"

namespace steertag::peer {

/// The pauses of one operation, until kMostDelay has passed since the first.
class Delay {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The pause before the next try; nullopt when it is time to give up.
  std::optional<std::chrono::milliseconds> next(Time now) {
    if (!end_) end_ = now + kMostDelay;
    if (now >= *end_) return std::nullopt;
    const auto pause = pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
    return pause;
  }

 private:
  std::optional<Time> end_;
  std::chrono::milliseconds pause_ = kShortestPause;
};

}  // namespace steertag::peer
