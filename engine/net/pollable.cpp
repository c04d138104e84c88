// Polls several pollables in one thread.
#include "net/pollable.h"

#include <poll.h>

#include <algorithm>
#include <vector>

namespace steertag::net {

std::size_t poll_all(std::span<Pollable* const> all, std::chrono::milliseconds timeout) {
  if (all.size() == 1) return all.front()->poll(timeout);
  std::vector<pollfd> waits;
  std::vector<bool> due;
  waits.reserve(all.size());
  due.reserve(all.size());
  for (Pollable* one : all) {
    const auto idle = one->idle_for(timeout);
    timeout = std::min(timeout, idle);
    waits.push_back({one->descriptor(), POLLIN, 0});
    due.push_back(idle == std::chrono::milliseconds{0});
  }
  const int ready = ::poll(waits.data(), waits.size(), static_cast<int>(timeout.count()));
  std::size_t notices = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    // After the timeout or an interruption each finds out for itself.
    if (ready <= 0 || waits[i].revents != 0 || due[i])
      notices += all[i]->poll(std::chrono::milliseconds{0});
  }
  return notices;
}

}  // namespace steertag::net
