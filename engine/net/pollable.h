// An object that works only inside its own `poll`, and how several of them share one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

namespace steertag::net {

class Pollable {
 public:
  virtual ~Pollable() = default;
  /// Works until something happened or `timeout` passed. Returns the number of notifications.
  virtual std::size_t poll(std::chrono::milliseconds timeout) = 0;
  /// Makes a running poll return early. The only member for other threads.
  virtual void wake() = 0;
  /// Readable, as poll(2) defines, when `poll` would handle an external event.
  virtual int descriptor() const = 0;
  /// How long no call of `poll` is needed unless the descriptor becomes readable: until the next
  /// deadline, and at most `most`. Zero if work is left.
  virtual std::chrono::milliseconds idle_for(std::chrono::milliseconds most) = 0;
};

/// Polls those that have something to do, or all of them if none has. Returns after something
/// happened, a wake-up, or `timeout`. The result is the number of notifications.
std::size_t poll_all(std::span<Pollable* const> all, std::chrono::milliseconds timeout);

}  // namespace steertag::net
