// Calls over which a connection was lost, remembered for their retry (RFC 8166 4.5.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "endpoint/deadline_clock.h"
#include "support/bytes.h"

namespace steertag::peer {

/// What a call has in common with its retry on another connection. The checksum covers at most
/// kChecksummedOctets of the inline payload stream: chunk lists differ, as the requester registers
/// its memory anew. It tells a retry from a new call of the same XID.
struct CallId {
  static CallId of(std::uint32_t xid, View payload);

  std::uint32_t xid = 0;
  std::size_t checksum = 0;
  bool operator==(const CallId&) const = default;
};

/// Holds at most kMostFailedCalls, each for kFailedCallLifetime.
class FailedCalls {
 public:
  explicit FailedCalls(DeadlineClock clock) : clock_(std::move(clock)) {}

  bool empty() const { return calls_.empty(); }
  /// The connection was lost while RDMA operations of this call may have failed. Refused at its
  /// next retry if `certain`, otherwise only after a second loss.
  void remember(const std::string& host, CallId id, bool certain);
  /// Whether this retry has to be refused. The call is forgotten then: XIDs are reused.
  bool take(const std::string& host, CallId id);

 private:
  struct Call {
    std::string host;
    CallId id;
    bool certain;
    std::chrono::steady_clock::time_point until;
  };
  std::deque<Call>::iterator find(const std::string& host, CallId id);

  DeadlineClock clock_;
  std::deque<Call> calls_;  // oldest first
};

}  // namespace steertag::peer
