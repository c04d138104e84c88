// Takes completion queues into use and returns them.
#include "fabric/verbs/completion_queues.h"

#include <array>
#include <cerrno>
#include <utility>

#include "fabric/verbs/device.h"

namespace steertag::fabric::verbs {

ibv_cq* CompletionQueues::take(QueueOwner& owner) {
  Queue queue;
  // A queue that cannot be cleared is unusable; try the next one.
  while (!queue && !resting_.empty()) {
    queue = std::move(resting_.front());
    resting_.pop_front();
    if (!clear(*queue)) {
      queue.reset();
    }
  }
  if (!queue) {
    queue.reset(ibv_create_cq(&context_, capacity_, nullptr, &channel_, 0));
  }
  if (!queue || ibv_req_notify_cq(queue.get(), 0) != 0) {
    return nullptr;
  }
  queue->cq_context = &owner;
  return queue.release();
}

void CompletionQueues::give_back(ibv_cq& queue) {
  queue.cq_context = nullptr;
  resting_.emplace_back(&queue);
}

// Completions of the previous queue pair are dropped.
bool CompletionQueues::clear(ibv_cq& queue) const {
  std::array<ibv_wc, 16> left;
  const int most = queue.cqe;  // up to its capacity
  for (int taken = 0; taken <= most;) {
    const int count = ibv_poll_cq(&queue, static_cast<int>(left.size()), left.data());
    if (count <= 0) {
      return count == 0;
    }
    taken += count;
  }
  return false;
}

}  // namespace steertag::fabric::verbs
