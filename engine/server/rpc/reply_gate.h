// Replies that wait for more than their client: until something that they depend on has happened.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <span>
#include <vector>

namespace steertag::peer {

/// What replies wait for: a ticket of each thing.
using Tickets = std::vector<std::uint64_t>;

class ReplyGate {
 public:
  virtual ~ReplyGate() = default;
  /// Whether the thing has happened. A ticket that has passed stays so.
  virtual bool passed(std::uint64_t ticket) const = 0;
};

/// The replies that wait, in the order in which they came to be.
class HeldReplies {
 public:
  /// None: no reply waits.
  explicit HeldReplies(const ReplyGate* gate) : gate_(gate) {}

  /// Whether a reply has to be held.
  bool must_wait(std::span<const std::uint64_t> tickets) const;
  /// Calls `leave` in `release` once all tickets have passed, unless the owner is forgotten before.
  void hold(std::uint64_t owner, Tickets tickets, std::function<void()> leave);
  /// The connection is gone.
  void forget(std::uint64_t owner);
  /// Call it outside of all notices.
  void release();

 private:
  struct Held {
    std::uint64_t owner = 0;
    Tickets tickets;
    std::function<void()> leave;
  };
  const ReplyGate* gate_;
  std::list<Held> held_;  // connections bound it: each has so many calls at most
};

}  // namespace steertag::peer
