// Takes receives from a queue, one for each Send.
#include "fabric/software/connection_receives.h"

#include <algorithm>

namespace steertag::fabric::software {

bool ConnectionReceives::ready() {
  if (ready_.empty() && queue_ != nullptr) {
    if (const auto receive = queue_->take(*this)) {
      keep(*receive);
    }
  }
  // One that came while the connection waited is safe until its owner knows of it.
  if (yields_ && !holds_ && !ready_.empty()) {
    queue_->hold(*this, front().buffer.size());
    holds_ = true;
  }
  return !ready_.empty();
}

void ConnectionReceives::keep(const PostedReceive& receive) {
  const std::size_t bytes = std::min(receive.buffer.size(), set_aside_.size());
  std::copy_n(set_aside_.begin(), bytes, receive.buffer.begin());
  drop_set_aside();
  ready_.push() = receive;
}

void ConnectionReceives::drop_set_aside() {
  if (queue_ != nullptr) {
    queue_->forget(set_aside_.size());
  }
  Bytes().swap(set_aside_);
}

void ConnectionReceives::on_receive(const PostedReceive& receive) {
  keep(receive);
  on_taken_();
}

PostedReceive ConnectionReceives::surrender() {
  holds_ = false;
  const PostedReceive receive = front();
  set_aside_.assign(receive.buffer.begin(), receive.buffer.end());
  ready_.pop();
  return receive;
}

void ConnectionReceives::pop() {
  ready_.pop();
  if (std::exchange(holds_, false)) {
    queue_->release(*this);
  }
}

void ConnectionReceives::yield() {
  if (!holds_ || queue_->waiting() == 0 || !queue_->set_aside(front().buffer.size())) return;
  queue_->release(*this);
  const PostedReceive receive = surrender();
  queue_->post(receive.buffer, receive.id);
}

void ConnectionReceives::close() {
  SharedReceives* const queue = std::exchange(queue_, nullptr);
  if (queue == nullptr) {
    ready_.clear();
    return;
  }
  queue->leave(*this);
  queue->release(*this);
  queue->forget(set_aside_.size());
  Bytes().swap(set_aside_);
  yields_ = holds_ = false;
  while (!ready_.empty()) {
    const PostedReceive unused = ready_.front();
    ready_.pop();
    queue->post(unused.buffer, unused.id);
  }
}

}  // namespace steertag::fabric::software
