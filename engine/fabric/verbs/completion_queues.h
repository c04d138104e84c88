// The completion queues of a device, which are reused because their events outlive them.
#pragma once

#include <infiniband/verbs.h>

#include <deque>
#include <memory>

namespace steertag::fabric::verbs {

class QueueOwner;

/// Unused queues rest, and their events reach no owner. Linux's rxe announces a completion in a
/// tasklet, and ibv_destroy_cq does not wait for it (Linux 6.1: rxe_send_complete). The event then
/// names a destroyed queue, and ibv_get_cq_event uses it. A resting queue avoids this. The largest
/// number of simultaneous connections limits their number.
class CompletionQueues {
 public:
  /// `context` and `channel` must outlive it, and the channel must not be read afterwards. A queue
  /// has room for `capacity` completions.
  CompletionQueues(ibv_context& context, ibv_comp_channel& channel, int capacity)
      : context_(context), channel_(channel), capacity_(capacity) {}

  /// An empty queue with its notification armed, whose context is `owner`. Null (errno) if the
  /// device refuses.
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
  std::deque<Queue> resting_;  // the one that has rested longest is first
};

}  // namespace steertag::fabric::verbs
