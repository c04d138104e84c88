// Round robin of the connections that wait for Read sinks.
#include "server/rdma/pull_queue.h"

#include <algorithm>
#include <utility>

namespace steertag::peer {

bool PullQueue::empty() const {
  return std::ranges::all_of(hosts_, [](const RoundRobin& hosts) { return hosts.empty(); });
}

void PullQueue::append(RoundRobin& hosts, Waiter waiter) {
  const std::string& name = waiter.connection->pull_host();
  auto host = std::ranges::find(hosts, name, &Host::name);
  if (host == hosts.end()) host = hosts.insert(hosts.end(), Host{name, {}});
  host->waiters.push_back(std::move(waiter));
}

void PullQueue::add(QueuedConnection& connection, std::uint32_t transaction) {
  RoundRobin& hosts = hosts_[connection.proven() ? 1 : 0];
  const auto host = std::ranges::find(hosts, connection.pull_host(), &Host::name);
  if (host != hosts.end()) {
    const auto waiter = std::ranges::find(host->waiters, &connection, &Waiter::connection);
    if (waiter != host->waiters.end()) return waiter->transactions.push_back(transaction);
  }
  append(hosts, {&connection, {transaction}});
}

void PullQueue::forget(const QueuedConnection& connection) {
  for (RoundRobin& hosts : hosts_) {
    for (Host& host : hosts)
      std::erase_if(host.waiters,
                    [&](const Waiter& waiter) { return waiter.connection == &connection; });
    std::erase_if(hosts, [](const Host& host) { return host.waiters.empty(); });
  }
}

void PullQueue::promote(QueuedConnection& connection) {
  RoundRobin& hosts = hosts_[0];
  const auto host = std::ranges::find(hosts, connection.pull_host(), &Host::name);
  if (host == hosts.end()) return;
  const auto waiter = std::ranges::find(host->waiters, &connection, &Waiter::connection);
  if (waiter == host->waiters.end()) return;
  append(hosts_[1], std::move(*waiter));
  host->waiters.erase(waiter);
  if (host->waiters.empty()) hosts.erase(host);
}

PullStart PullQueue::serve_one(Host& host) {
  const std::size_t count = host.waiters.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = host.newest_first ? count - 1 - i : i;
    // A call that is started may add others behind, but removes no waiter.
    const PullStart start =
        host.waiters[at].connection->start_waiting_pull(host.waiters[at].transactions.front());
    if (start == PullStart::share_used_up) continue;
    if (start != PullStart::started) return start;
    Waiter waiter = std::move(host.waiters[at]);
    host.waiters.erase(host.waiters.begin() + static_cast<std::ptrdiff_t>(at));
    waiter.transactions.pop_front();
    host.newest_first = !host.newest_first && !waiter.connection->proven();
    if (!waiter.transactions.empty()) host.waiters.push_back(std::move(waiter));
    return start;
  }
  return PullStart::share_used_up;
}

PullStart PullQueue::serve_one(RoundRobin& hosts) {
  const std::size_t count = hosts.size();
  for (std::size_t i = 0; i < count; ++i) {
    const PullStart start = serve_one(hosts.front());
    if (start == PullStart::no_memory || start == PullStart::part_used_up) return start;
    Host host = std::move(hosts.front());
    hosts.pop_front();
    if (!host.waiters.empty()) hosts.push_back(std::move(host));
    if (start == PullStart::started) return start;
  }
  return PullStart::share_used_up;
}

Shortage PullQueue::serve() {
  Shortage shortage = Shortage::none;
  std::size_t stalled = 0;  // queues in which nothing can be started, of those looked at last
  while (stalled < hosts_.size()) {
    const PullStart start = serve_one(hosts_[next_]);
    if (start == PullStart::no_memory) return Shortage::of_all;
    if (start == PullStart::part_used_up) shortage = Shortage::of_unproven;
    stalled = start == PullStart::started ? 0 : stalled + 1;
    next_ = (next_ + 1) % hosts_.size();
  }
  return shortage;
}

}  // namespace steertag::peer
