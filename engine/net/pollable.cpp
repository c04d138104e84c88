// Polls several pollables in one thread.
#include "net/pollable.h"

#include <poll.h>

#include <algorithm>
#include <vector>

namespace steertag::net {

std::size_t poll_all(std::span<Pollable* const> all, std::chrono::milliseconds timeout) {
  if (all.size() == 1) return all.front()->poll(timeout);
  std::vector<pollfd> waits;
  waits.reserve(all.size());
  for (Pollable* one : all) {
    timeout = std::min(timeout, one->idle_for(timeout));
    waits.push_back({one->descriptor(), POLLIN, 0});
  }
  // Also after an interruption: each pollable's own poll finds what is ready.
  ::poll(waits.data(), waits.size(), static_cast<int>(timeout.count()));
  std::size_t notices = 0;
  for (Pollable* one : all) notices += one->poll(std::chrono::milliseconds{0});
  return notices;
}

}  // namespace steertag::net
