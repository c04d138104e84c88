// Turns of the connections that wait for pull memory.
#include "peer/server/pull_queue.h"

#include <algorithm>

namespace steertag::peer {

void PullQueue::add(PullUser& user, std::uint32_t transaction) {
  const auto turn =
      std::ranges::find_if(turns_, [&](const Turn& other) { return other.user == &user; });
  if (turn != turns_.end()) {
    turn->waiting.push_back(transaction);
  } else {
    turns_.push_back({&user, {transaction}});
  }
}

void PullQueue::forget(const PullUser& user) {
  std::erase_if(turns_, [&](const Turn& turn) { return turn.user == &user; });
}

void PullQueue::serve() {
  std::size_t without_share = 0;  // of the turns at the end
  while (without_share < turns_.size()) {
    // A call that is started may add others behind, but takes no turn away.
    const PullStart start = turns_.front().user->start_waiting_pull(turns_.front().waiting.front());
    if (start == PullStart::no_memory) return;
    Turn turn = std::move(turns_.front());
    turns_.pop_front();
    if (start == PullStart::started) {
      without_share = 0;
      turn.waiting.pop_front();
    } else {
      ++without_share;
    }
    if (!turn.waiting.empty()) turns_.push_back(std::move(turn));
  }
}

}  // namespace steertag::peer
