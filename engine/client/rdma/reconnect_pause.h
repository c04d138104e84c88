// How long a client waits before it connects again to a server that was there before.
// A server that is restarting refuses connections meanwhile.
#pragma once

#include <algorithm>
#include <chrono>

#include "net/clock.h"

namespace steertag::peer {

/// Pause after the first connection that did not come up; it doubles from one to the next. The
/// attempts of a client of files (kFileAttempts) last 7 s so.
inline constexpr std::chrono::milliseconds kShortestReconnectPause{100};
inline constexpr std::chrono::milliseconds kLongestReconnectPause{2000};

class ReconnectPause {
 public:
  explicit ReconnectPause(std::chrono::milliseconds shortest = kShortestReconnectPause)
      : shortest_(shortest) {}
  /// A connection is up.
  void came_up() {
    known_ = true;
    pause_ = shortest_;
    until_ = 0;
  }
  /// A connection did not come up. A server that was never there is not waited for.
  void failed(net::Time now) {
    if (!known_) return;
    until_ = net::after(now, pause_);
    pause_ = std::min(2 * pause_, kLongestReconnectPause);
  }
  /// What remains of the pause.
  std::chrono::milliseconds left(net::Time now) const {
    if (now >= until_) return std::chrono::milliseconds{0};
    return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds(until_ - now));
  }

 private:
  bool known_ = false;
  std::chrono::milliseconds shortest_;
  std::chrono::milliseconds pause_ = shortest_;
  net::Time until_ = 0;
};

}  // namespace steertag::peer
