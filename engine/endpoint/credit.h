// Credit accounting of a requester (RFC 8166 3.3.1): how many calls may be outstanding.
#pragma once

#include <algorithm>
#include <cstdint>

#include "endpoint/limits.h"

namespace steertag::peer {

class CreditWindow {
 public:
  /// `requested`: the level that every call asks for, which is also what the requester has receives
  /// for.
  explicit CreditWindow(std::uint32_t requested)
      : requested_(std::clamp(requested, std::uint32_t{1}, kMostCredits)) {}

  std::uint32_t requested() const { return requested_; }
  /// RFC 8166 3.3.3: a fresh connection has one credit until a reply tells the grant.
  std::uint32_t granted() const { return granted_; }
  std::uint32_t in_flight() const { return in_flight_; }
  /// Whether one more call may go. `reserve` credits are left alone, unless there are no others.
  bool open(std::uint32_t reserve = 0) const {
    const std::uint32_t most = std::min(requested_, granted_);
    return in_flight_ < (most > reserve ? most - reserve : most);
  }

  void on_call() { ++in_flight_; }
  /// A valid reply or error for an outstanding call. A grant of zero is taken as one: the responder
  /// broke RFC 8166 3.3.1 and anything less would deadlock.
  void on_reply(std::uint32_t grant) {
    granted_ = std::clamp(grant, std::uint32_t{1}, kMostCredits);
    if (in_flight_ > 0) --in_flight_;
  }
  void reset() { granted_ = 1, in_flight_ = 0; }

  /// Whatever the last reply granted.
  void set_grant(std::uint32_t grant) { granted_ = grant; }

 private:
  std::uint32_t requested_;
  std::uint32_t granted_ = 1;
  std::uint32_t in_flight_ = 0;
};

}  // namespace steertag::peer
