// The responder on one connection: memory to pull calls into, and clients that do not deliver.
#include <algorithm>
#include <utility>

#include "server/rdma/server_connection.h"

namespace steertag::peer {

PullStart ServerConnection::start_waiting_pull(std::uint32_t transaction) {
  return start_pull(*transactions_[transaction]);
}

PullStart ServerConnection::take_sink(Transaction& call) {
  const std::size_t bytes = RegionPool::size_for(call.pull.size);
  const std::size_t budget = context_.options.pull_budget_bytes;
  if (pull_bytes_ > 0 && pull_bytes_ + bytes > budget / kPullShares)
    return PullStart::share_used_up;
  // One of them may always have a sink, whatever its size, so that none waits for ever.
  if (!proven_ && rdma_.unproven_bytes > 0 &&
      rdma_.unproven_bytes + bytes > budget - budget / kProvenPart)
    return PullStart::part_used_up;
  call.sink = rdma_.pool.acquire(call.pull.size, {});
  if (!call.sink) return PullStart::no_memory;
  call.sink_is_unproven = !proven_;
  if (!proven_) rdma_.unproven_bytes += bytes;
  if (pull_bytes_ == 0) rdma_.watchdog.add(*this);
  pull_bytes_ += bytes;
  return PullStart::started;
}

void ServerConnection::release_sink(Transaction& call) {
  if (!call.sink) return;
  const std::size_t bytes = call.sink->bytes().size();
  if (std::exchange(call.sink_is_unproven, false)) rdma_.unproven_bytes -= bytes;
  pull_bytes_ -= bytes;
  if (pull_bytes_ == 0) rdma_.watchdog.remove(*this);
  call.sink.release();
}

void ServerConnection::note_whole_pull() {
  PullWatchdog::restart(*this);
  if (proven_) return;
  proven_ = true;
  rdma_.pulls.promote(*this);
}

std::uint64_t ServerConnection::delivered_octets() const {
  const fabric::Connection* connection = endpoint_.connection();
  return connection ? connection->octets_read() : 0;
}

bool ServerConnection::holds_unproven() const {
  return std::ranges::any_of(transactions_,
                             [](const auto& call) { return call->sink_is_unproven; });
}

bool ServerConnection::awaits_client() const {
  return !dropped_ && !down_ && std::ranges::any_of(transactions_, [](const auto& call) {
    return call->state == TransactionState::pulling;
  });
}

void ServerConnection::drop_stalled() {
  tell_of_limit({fabric::Errc::timed_out, "less than " + std::to_string(kLeastProgressBytes) +
                                              " octets of read chunks came in " +
                                              std::to_string(kContendedWait.count()) +
                                              " ms while others waited for memory"});
  drop();
}

void ServerConnection::tell_of_limit(const fabric::Error& why) {
  ++context_.statistics.dropped_connections;
  if (context_.on_trouble) context_.on_trouble(peer_name_, why);
}

}  // namespace steertag::peer
