// Replies to calls that must not be executed twice.
#include "server/rpc/duplicate_request_cache.h"

#include <algorithm>

namespace steertag::peer {
namespace {

std::size_t hash_of(View octets) {
  const auto* text = reinterpret_cast<const char*>(octets.data());
  return std::hash<std::string_view>{}({text, octets.size()});
}

}  // namespace

DuplicateRequestCache::Calls::iterator DuplicateRequestCache::find(View octets,
                                                                   const std::string& host) {
  const auto [first, last] = by_octets_.equal_range(hash_of(octets));
  const auto found = std::find_if(first, last, [&](const auto& entry) {
    return entry.second->host == host && std::ranges::equal(entry.second->octets, octets);
  });
  return found == last ? calls_.end() : found->second;
}

void DuplicateRequestCache::forget(Calls::iterator call) {
  const auto [first, last] = by_octets_.equal_range(hash_of(call->octets));
  by_octets_.erase(
      std::find_if(first, last, [&](const auto& entry) { return entry.second == call; }));
  bytes_ -= call->size();
  calls_.erase(call);
}

void DuplicateRequestCache::forget_old() {
  const auto now = clock_();
  while (!calls_.empty() && calls_.front().until <= now) forget(calls_.begin());
}

const Bytes* DuplicateRequestCache::find(View call, const ConnectionInfo& info) {
  forget_old();
  const auto found = find(call, info.peer_host);
  const bool repeats = found != calls_.end() && found->connection != info.id;
  return repeats ? &found->reply : nullptr;
}

void DuplicateRequestCache::keep(View call, const ConnectionInfo& info, View reply) {
  forget_old();
  if (const auto same = find(call, info.peer_host); same != calls_.end()) forget(same);
  if (call.size() + reply.size() > kLargestKeptCall) return;
  calls_.push_back({info.peer_host, info.id, Bytes(call.begin(), call.end()),
                    Bytes(reply.begin(), reply.end()), clock_() + kKeptReplyLifetime});
  by_octets_.emplace(hash_of(call), std::prev(calls_.end()));
  bytes_ += calls_.back().size();
  while (calls_.size() > kMostKeptReplies || bytes_ > kMostKeptReplyBytes) forget(calls_.begin());
}

}  // namespace steertag::peer
