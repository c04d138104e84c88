// Turns of the connections that wait for pull memory.
#include "server/rdma/pull_queue.h"

#include <algorithm>
#include <utility>

namespace steertag::peer {

bool PullQueue::empty() const {
  return std::ranges::all_of(lanes_, [](const Lane& lane) { return lane.empty(); });
}

void PullQueue::append(Lane& lane, Turn turn) {
  const std::string& name = turn.user->pull_host();
  auto host = std::ranges::find(lane, name, &Host::name);
  if (host == lane.end()) host = lane.insert(lane.end(), Host{name, {}});
  host->turns.push_back(std::move(turn));
}

void PullQueue::add(PullUser& user, std::uint32_t transaction) {
  Lane& lane = lanes_[user.proven() ? 1 : 0];
  const auto host = std::ranges::find(lane, user.pull_host(), &Host::name);
  if (host != lane.end()) {
    const auto turn = std::ranges::find(host->turns, &user, &Turn::user);
    if (turn != host->turns.end()) return turn->waiting.push_back(transaction);
  }
  append(lane, {&user, {transaction}});
}

void PullQueue::forget(const PullUser& user) {
  for (Lane& lane : lanes_) {
    for (Host& host : lane)
      std::erase_if(host.turns, [&](const Turn& turn) { return turn.user == &user; });
    std::erase_if(lane, [](const Host& host) { return host.turns.empty(); });
  }
}

void PullQueue::promote(PullUser& user) {
  Lane& lane = lanes_[0];
  const auto host = std::ranges::find(lane, user.pull_host(), &Host::name);
  if (host == lane.end()) return;
  const auto turn = std::ranges::find(host->turns, &user, &Turn::user);
  if (turn == host->turns.end()) return;
  append(lanes_[1], std::move(*turn));
  host->turns.erase(turn);
  if (host->turns.empty()) lane.erase(host);
}

PullStart PullQueue::serve_one(Host& host) {
  const std::size_t count = host.turns.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = host.last_first ? count - 1 - i : i;
    // A call that is started may add others behind, but takes no turn away.
    const PullStart start = host.turns[at].user->start_waiting_pull(host.turns[at].waiting.front());
    if (start == PullStart::share_used_up) continue;
    if (start != PullStart::started) return start;
    Turn turn = std::move(host.turns[at]);
    host.turns.erase(host.turns.begin() + static_cast<std::ptrdiff_t>(at));
    turn.waiting.pop_front();
    host.last_first = !host.last_first && !turn.user->proven();
    if (!turn.waiting.empty()) host.turns.push_back(std::move(turn));
    return start;
  }
  return PullStart::share_used_up;
}

PullStart PullQueue::serve_one(Lane& lane) {
  const std::size_t count = lane.size();
  for (std::size_t i = 0; i < count; ++i) {
    const PullStart start = serve_one(lane.front());
    if (start == PullStart::no_memory || start == PullStart::part_used_up) return start;
    Host host = std::move(lane.front());
    lane.pop_front();
    if (!host.turns.empty()) lane.push_back(std::move(host));
    if (start == PullStart::started) return start;
  }
  return PullStart::share_used_up;
}

Shortage PullQueue::serve() {
  Shortage shortage = Shortage::none;
  std::size_t stalled = 0;  // lanes in which nothing can be started, of those looked at last
  while (stalled < lanes_.size()) {
    const PullStart start = serve_one(lanes_[next_lane_]);
    if (start == PullStart::no_memory) return Shortage::of_all;
    if (start == PullStart::part_used_up) shortage = Shortage::of_unproven;
    stalled = start == PullStart::started ? 0 : stalled + 1;
    next_lane_ = (next_lane_ + 1) % lanes_.size();
  }
  return shortage;
}

}  // namespace steertag::peer
