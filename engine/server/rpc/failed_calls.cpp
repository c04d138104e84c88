// Calls over which a connection was lost.
#include "server/rpc/failed_calls.h"

#include <algorithm>

#include "endpoint/limits.h"

namespace steertag::peer {

std::deque<FailedCalls::Call>::iterator FailedCalls::find(const std::string& host,
                                                          std::uint32_t xid) {
  const auto now = clock_();
  std::erase_if(calls_, [&](const Call& call) { return call.until <= now; });
  return std::ranges::find_if(
      calls_, [&](const Call& call) { return call.xid == xid && call.host == host; });
}

void FailedCalls::remember(const std::string& host, std::uint32_t xid, bool certain) {
  const auto known = find(host, xid);
  if (known != calls_.end()) {
    certain = true;
    calls_.erase(known);
  }
  if (calls_.size() == kMostFailedCalls) calls_.pop_front();
  calls_.push_back({host, xid, certain, clock_() + kFailedCallLifetime});
}

bool FailedCalls::take(const std::string& host, std::uint32_t xid) {
  if (calls_.empty()) return false;  // so that no call needs the clock as long as all is well
  const auto known = find(host, xid);
  if (known == calls_.end() || !known->certain) return false;
  calls_.erase(known);
  return true;
}

}  // namespace steertag::peer
