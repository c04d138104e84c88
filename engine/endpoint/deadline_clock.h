// The monotonic time that deadlines are measured with; passed in so that tests need not wait.
#pragma once

#include <chrono>
#include <functional>

namespace steertag::peer {

using DeadlineClock = std::function<std::chrono::steady_clock::time_point()>;

}  // namespace steertag::peer
