// The clock of everything that waits for the network.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace steertag::net {

/// Nanoseconds since 1970, never running backwards. It is a parameter, so that tests need not wait.
using Clock = std::function<std::int64_t()>;

/// The default clock: the time of day at the first call, then the monotonic clock.
Clock system_clock();

/// Nanoseconds of such a clock.
using Time = std::int64_t;
inline constexpr Time kNever = INT64_MAX;
constexpr Time after(Time now, std::chrono::milliseconds wait) {
  return now + std::chrono::nanoseconds(wait).count();
}

}  // namespace steertag::net
