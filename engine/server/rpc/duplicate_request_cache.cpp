// Replies to calls that must not be executed twice.
#include "server/rpc/duplicate_request_cache.h"

#include <algorithm>

namespace steertag::peer {
namespace {

constexpr std::size_t kXidBytes = 4;

std::size_t hash_of(View octets) {
  const auto* text = reinterpret_cast<const char*>(octets.data());
  return std::hash<std::string_view>{}({text, octets.size()});
}

}  // namespace

View DuplicateRequestCache::key_of(View call) const {
  return policy_.compares_calls ? call : call.first(kXidBytes);
}

DuplicateRequestCache::Calls::iterator DuplicateRequestCache::find(View key,
                                                                   const std::string& host) {
  const auto [first, last] = by_octets_.equal_range(hash_of(key));
  const auto found = std::find_if(first, last, [&](const auto& entry) {
    return entry.second->host == host && std::ranges::equal(entry.second->octets, key);
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

bool DuplicateRequestCache::is_retry(const Call& first, const ConnectionInfo& info) const {
  return first.connection != info.id && (policy_.takes_any_port || first.port == info.peer_port);
}

const Bytes& DuplicateRequestCache::last_reply_as(View call) {
  Bytes& reply = calls_.back().reply;
  std::ranges::copy(call.first(kXidBytes), reply.begin());
  return reply;
}

const Bytes* DuplicateRequestCache::find(View call, const ConnectionInfo& info) {
  forget_old();
  const auto first = find(key_of(call), info.peer_host);
  if (first == calls_.end() || !is_retry(*first, info)) return nullptr;
  return policy_.gives_own_reply ? &first->reply : &last_reply_as(call);
}

void DuplicateRequestCache::keep(View call, const ConnectionInfo& info, View reply) {
  if (!policy_.keeps_replies || (!policy_.keeps_large && call.size() > kSmallCall)) return;
  forget_old();
  const View key = key_of(call);
  if (const auto same = find(key, info.peer_host); same != calls_.end()) forget(same);
  if (call.size() + reply.size() > kLargestKeptCall) return;
  calls_.push_back({info.peer_host, info.id, info.peer_port, Bytes(key.begin(), key.end()),
                    Bytes(reply.begin(), reply.end()), clock_() + kKeptReplyLifetime});
  by_octets_.emplace(hash_of(key), std::prev(calls_.end()));
  bytes_ += calls_.back().size();
  while (calls_.size() > kMostKeptReplies || bytes_ > kMostKeptReplyBytes) forget(calls_.begin());
}

}  // namespace steertag::peer
