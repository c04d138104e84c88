// Takes receives from a queue, one for each Send.
#include "fabric/software/connection_receives.h"

namespace steertag::fabric::software {

bool ConnectionReceives::ready() {
  if (ready_.empty() && queue_ != nullptr) {
    if (const auto receive = queue_->take(*this)) {
      ready_.push() = *receive;
    }
  }
  return !ready_.empty();
}

void ConnectionReceives::on_receive(const PostedReceive& receive) {
  ready_.push() = receive;
  on_taken_();
}

void ConnectionReceives::close() {
  SharedReceives* const queue = std::exchange(queue_, nullptr);
  if (queue == nullptr) {
    ready_.clear();
    return;
  }
  queue->leave(*this);
  while (!ready_.empty()) {
    const PostedReceive unused = ready_.front();
    ready_.pop();
    queue->post(unused.buffer, unused.id);
  }
}

}  // namespace steertag::fabric::software
