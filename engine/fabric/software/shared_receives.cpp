// Whose turn it is to have a receive.
#include "fabric/software/shared_receives.h"

#include <algorithm>

namespace steertag::fabric::software {

void SharedReceives::post(MutableView buffer, WorkId id) {
  if (line_.empty()) {
    free_.push() = {buffer, id};
    return;
  }
  ReceiveTaker* const next = line_.front();
  line_.pop_front();
  next->on_receive({buffer, id});
}

std::optional<PostedReceive> SharedReceives::take(ReceiveTaker& taker) {
  if (!free_.empty()) {
    const PostedReceive receive = free_.front();
    free_.pop();
    return receive;
  }
  if (!holders_.empty() && set_aside(holders_.front().bytes)) {
    ReceiveTaker* const holder = holders_.front().taker;
    holders_.pop_front();
    return holder->surrender();
  }
  if (std::ranges::find(line_, &taker) == line_.end()) {
    line_.push_back(&taker);
  }
  return std::nullopt;
}

void SharedReceives::leave(const ReceiveTaker& taker) {
  std::erase(line_, &taker);
}

void SharedReceives::release(const ReceiveTaker& taker) {
  std::erase_if(holders_, [&](const Holder& each) { return each.taker == &taker; });
}

bool SharedReceives::set_aside(std::size_t bytes) {
  if (bytes > kMostSetAsideBytes - set_aside_bytes_) return false;
  set_aside_bytes_ += bytes;
  return true;
}

}  // namespace steertag::fabric::software
