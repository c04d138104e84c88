// The system's clock.
#include "net/clock.h"

namespace steertag::net {

Clock system_clock() {
  const auto nanoseconds = [](auto time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  };
  const std::int64_t offset =
      nanoseconds(std::chrono::system_clock::now()) - nanoseconds(std::chrono::steady_clock::now());
  return [=] { return nanoseconds(std::chrono::steady_clock::now()) + offset; };
}

}  // namespace steertag::net
