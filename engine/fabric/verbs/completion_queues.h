// The completion queues of a device: made once and used again, because their events outlive them.
#pragma once

#include <infiniband/verbs.h>

#include <deque>
#include <memory>

namespace steertag::fabric::verbs {

class QueueOwner;

/// Queues that nobody uses rest, and tell nobody anything. Linux's rxe announces a completion in a
/// tasklet for which ibv_destroy_cq does not wait (Linux 6.1: rxe_send_complete): the event then
/// names a queue that is gone, and ibv_get_cq_event follows it. What rests cannot go wrong so. As
/// many are kept as connections were open at a time.
class CompletionQueues {
 public:
  /// `context` and `channel` must outlive it, and nobody reads the channel after it. A queue has
  /// room for `capacity` completions.
  CompletionQueues(ibv_context& context, ibv_comp_channel& channel, int capacity)
      : context_(context), channel_(channel), capacity_(capacity) {}

  /// An empty queue, its notification armed, whose context is `owner`. Null (errno) if the device
  /// gives none.
  ibv_cq* take(QueueOwner& owner);
  /// No queue pair uses it any more.
  void give_back(ibv_cq& queue);

 private:
  struct DestroyCq {
    void operator()(ibv_cq* queue) const { ibv_destroy_cq(queue); }
  };
  using Queue = std::unique_ptr<ibv_cq, DestroyCq>;

  bool clear(ibv_cq& queue) const;

  ibv_context& context_;
  ibv_comp_channel& channel_;
  int capacity_;
  std::deque<Queue> resting_;  // the one that has rested longest is the first
};

}  // namespace steertag::fabric::verbs
