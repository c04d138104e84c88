// Test helpers of MPA startup in both roles: valid frames and a clock.
#pragma once

#include <chrono>
#include <memory>

#include "fabric/iwarp/formats.h"
#include "fabric/net_names.h"
#include "net/clock.h"

namespace steertag::fabric::testing {

/// A clock that only the test advances, and that counts its readings.
struct ScriptedPeer {
  std::shared_ptr<std::int64_t> now = std::make_shared<std::int64_t>(1);
  std::shared_ptr<int> looks = std::make_shared<int>(0);
  net::Clock clock() const {
    return [at = now, count = looks] { return ++*count, *at; };
  }
  void advance(std::chrono::milliseconds by) { *now += std::chrono::nanoseconds(by).count(); }
};

inline iwarp::StartupFrame request(std::uint8_t revision = 2) {
  iwarp::StartupFrame frame;
  frame.crc = true;
  frame.revision = revision;
  if (revision == 2) {
    frame.enhanced = iwarp::Enhanced{false, false, false, false, 16, 16};
  }
  return frame;
}

inline iwarp::StartupFrame reply() {
  iwarp::StartupFrame frame = request();
  frame.kind = iwarp::StartupKind::reply;
  return frame;
}

}  // namespace steertag::fabric::testing
