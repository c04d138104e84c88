// The shared receive queue of a software provider, and the line of connections that wait for it.
#pragma once

#include <deque>
#include <optional>

#include "fabric/receive_queue.h"
#include "fabric/software/posted_receive.h"

namespace steertag::fabric::software {

/// A connection that takes receives from a queue.
class ReceiveTaker {
 public:
  virtual ~ReceiveTaker() = default;
  /// The receive that it waits for. Comes from inside any `post`, so it must only be kept.
  virtual void on_receive(const PostedReceive& receive) = 0;
};

class SharedReceives final : public ReceiveQueue {
 public:
  void post(MutableView buffer, WorkId id) override;
  std::size_t posted() const override { return free_.size(); }
  std::size_t waiting() const override { return line_.size(); }

  /// A receive, or none: then `taker` is in the line, once, and gets one by on_receive.
  std::optional<PostedReceive> take(ReceiveTaker& taker);
  /// It waits no longer.
  void leave(const ReceiveTaker& taker);

 private:
  PostedReceives free_;             // empty while connections wait
  std::deque<ReceiveTaker*> line_;  // each at most once, so no longer than there are connections
};

}  // namespace steertag::fabric::software
