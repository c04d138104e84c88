// Calls over which a connection was lost, remembered for their retry (RFC 8166 4.5.3).
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "endpoint/deadline_clock.h"

namespace steertag::peer {

/// Holds at most kMostFailedCalls, each for kFailedCallLifetime.
class FailedCalls {
 public:
  explicit FailedCalls(DeadlineClock clock) : clock_(std::move(clock)) {}

  /// The connection was lost while RDMA operations of this call may have failed. Refused at its
  /// next retry if `certain`, otherwise only after a second loss.
  void remember(const std::string& host, std::uint32_t xid, bool certain);
  /// Whether this retry is to be refused. It is forgotten then: XIDs come again.
  bool take(const std::string& host, std::uint32_t xid);

 private:
  struct Call {
    std::string host;
    std::uint32_t xid;
    bool certain;
    std::chrono::steady_clock::time_point until;
  };
  std::deque<Call>::iterator find(const std::string& host, std::uint32_t xid);

  DeadlineClock clock_;
  std::deque<Call> calls_;  // oldest first
};

}  // namespace steertag::peer
