// What works only inside its own `poll`, and how several such things share one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

namespace steertag::net {

class Pollable {
 public:
  virtual ~Pollable() = default;
  /// Works until something was done or `timeout` passed. Returns the number of notices given.
  virtual std::size_t poll(std::chrono::milliseconds timeout) = 0;
  /// Makes a poll in progress return early; the only member that other threads may call.
  virtual void wake() = 0;
  /// Readable, as poll(2) says, whenever `poll` would find something that came from outside.
  virtual int descriptor() const = 0;
  /// How long nobody has to call `poll` unless the descriptor becomes readable: until the next
  /// deadline, but at most `most`; zero if work is left over.
  virtual std::chrono::milliseconds idle_for(std::chrono::milliseconds most) = 0;
};

/// Polls all of them: returns when one of them has done something, was woken, or `timeout` passed.
/// Returns the number of notices given.
std::size_t poll_all(std::span<Pollable* const> all, std::chrono::milliseconds timeout);

}  // namespace steertag::net
