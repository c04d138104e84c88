// The time-out of packets without an acknowledgement, by measured round trips (RFC 6298 2).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "fabric/roce/packets/limits.h"

namespace steertag::fabric::roce {

class RoundTrip {
 public:
  void sample(std::chrono::nanoseconds time) {
    if (average_.count() == 0) {
      average_ = time;
      variation_ = time / 2;
    } else {
      variation_ = (3 * variation_ + std::chrono::abs(average_ - time)) / 4;
      average_ = (7 * average_ + time) / 8;
    }
  }
  std::chrono::nanoseconds timeout(const Limits& limits) const {
    if (average_.count() == 0) {
      return limits.ack;
    }
    return std::clamp<std::chrono::nanoseconds>(average_ + 4 * variation_, limits.least_ack,
                                                limits.most_ack);
  }

 private:
  std::chrono::nanoseconds average_{0};
  std::chrono::nanoseconds variation_{0};
};

}  // namespace steertag::fabric::roce
