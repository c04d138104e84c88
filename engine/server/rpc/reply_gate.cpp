// Holds replies back.
#include "server/rpc/reply_gate.h"

#include <algorithm>
#include <utility>

namespace steertag::peer {

bool HeldReplies::must_wait(std::span<const std::uint64_t> tickets) const {
  return gate_ && !std::ranges::all_of(tickets, [&](auto each) { return gate_->passed(each); });
}

void HeldReplies::hold(std::uint64_t owner, Tickets tickets, std::function<void()> leave) {
  held_.push_back({owner, std::move(tickets), std::move(leave)});
}

void HeldReplies::forget(std::uint64_t owner) {
  held_.remove_if([&](const Held& each) { return each.owner == owner; });
}

void HeldReplies::release() {
  // What leaves may end connections, and let others execute calls that are held in their turn.
  for (std::size_t left = held_.size(); left > 0; --left) {
    const auto found =
        std::ranges::find_if(held_, [&](const Held& each) { return !must_wait(each.tickets); });
    if (found == held_.end()) return;
    const auto leave = std::move(found->leave);
    held_.erase(found);
    leave();
  }
}

}  // namespace steertag::peer
