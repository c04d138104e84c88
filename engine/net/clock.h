// Time as everything that waits for the network sees it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace steertag::net {

/// Nanoseconds since 1970 that never run backwards; passed in so that tests need not wait.
using Clock = std::function<std::int64_t()>;

/// The system's time of day at the first call, then its monotonic clock (used if none is given).
Clock system_clock();

/// Nanoseconds of such a clock.
using Time = std::int64_t;
inline constexpr Time kNever = INT64_MAX;
constexpr Time after(Time now, std::chrono::milliseconds wait) {
  return now + std::chrono::nanoseconds(wait).count();
}

}  // namespace steertag::net
