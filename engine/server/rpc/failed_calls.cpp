// Calls over which a connection was lost.
#include "server/rpc/failed_calls.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "endpoint/limits.h"

namespace steertag::peer {

CallId CallId::of(std::uint32_t xid, View payload) {
  const View start = payload.first(std::min(payload.size(), kChecksummedOctets));
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  return {xid, std::hash<std::string_view>{}(text)};
}

std::deque<FailedCalls::Call>::iterator FailedCalls::find(const std::string& host, CallId id) {
  const auto now = clock_();
  std::erase_if(calls_, [&](const Call& call) { return call.until <= now; });
  return std::ranges::find_if(calls_,
                              [&](const Call& call) { return call.id == id && call.host == host; });
}

void FailedCalls::remember(const std::string& host, CallId id, bool certain) {
  const auto known = find(host, id);
  if (known != calls_.end()) {
    certain = true;
    calls_.erase(known);
  }
  if (calls_.size() == kMostFailedCalls) calls_.pop_front();
  calls_.push_back({host, id, certain, clock_() + kFailedCallLifetime});
}

bool FailedCalls::take(const std::string& host, CallId id) {
  if (calls_.empty()) return false;  // so that no call needs the clock as long as all is well
  const auto known = find(host, id);
  if (known == calls_.end() || !known->certain) return false;
  calls_.erase(known);
  return true;
}

}  // namespace steertag::peer
