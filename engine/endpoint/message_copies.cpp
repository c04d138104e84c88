// Copies, which are reused while their connection is busy.
#include "endpoint/message_copies.h"

namespace steertag::peer {

std::optional<std::uint32_t> MessageCopies::add(View message) {
  if (free_.empty()) {
    if (copies_.size() >= most_) return std::nullopt;
    free_.push_back(static_cast<std::uint32_t>(copies_.size()));
    copies_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  copies_[number].assign(message.begin(), message.end());
  return number;
}

void MessageCopies::release() {
  copies_ = {};
  free_ = {};
}

}  // namespace steertag::peer
