// The shared receive queue of a software provider, and the line of connections that wait for it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "fabric/receive_queue.h"
#include "fabric/software/posted_receive.h"

namespace steertag::fabric::software {

/// Octets of messages that have begun and gave their receive back, of all connections of a queue.
/// Beyond it a message keeps its receive until it is whole.
inline constexpr std::size_t kMostSetAsideBytes = std::size_t{64} << 20;

/// A connection that takes receives from a queue.
class ReceiveTaker {
 public:
  virtual ~ReceiveTaker() = default;
  /// The receive that it waits for. Comes from inside any `post`, so it must only be kept.
  virtual void on_receive(const PostedReceive& receive) = 0;
  /// The receive of a message that has begun and is not whole, for a Send of another connection.
  /// Comes from inside that one's `take`.
  virtual PostedReceive surrender() = 0;
};

class SharedReceives final : public ReceiveQueue {
 public:
  void post(MutableView buffer, WorkId id) override;
  std::size_t posted() const override { return free_.size(); }
  std::size_t waiting() const override { return line_.size(); }

  /// A receive, or none: then `taker` is in the line, once, and gets one by on_receive. If none is
  /// free it comes from the holder that has held one longest.
  std::optional<PostedReceive> take(ReceiveTaker& taker);
  /// It waits no longer.
  void leave(const ReceiveTaker& taker);

  /// From now until `release` `taker` may have to surrender its receive of so many octets.
  void hold(ReceiveTaker& taker, std::size_t bytes) { holders_.push_back({&taker, bytes}); }
  void release(const ReceiveTaker& taker);
  /// Whether this many octets more may be set aside. If so they count until `forget`.
  bool set_aside(std::size_t bytes);
  void forget(std::size_t bytes) { set_aside_bytes_ -= bytes; }

 private:
  struct Holder {
    ReceiveTaker* taker;
    std::size_t bytes;
  };

  PostedReceives free_;             // empty while connections wait
  std::deque<ReceiveTaker*> line_;  // each at most once, so no longer than there are connections
  std::deque<Holder> holders_;      // likewise, and no longer than there are receives
  std::size_t set_aside_bytes_ = 0;
};

}  // namespace steertag::fabric::software
