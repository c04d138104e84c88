// Drops connections that hold Read sinks and deliver nothing while others wait for memory.
// memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "endpoint/limits.h"
#include "server/rdma/pull_queue.h"

namespace steertag::peer {

/// A connection that may hold Read sinks.
class WatchedConnection : public QueuedConnection {
 public:
  /// Octets of transfers that the client has delivered so far.
  virtual std::uint64_t delivered_octets() const = 0;
  /// Whether it holds memory of the part that connections that are not proven share.
  virtual bool holds_unproven() const = 0;
  /// Whether the next octets have to come from the client.
  virtual bool awaits_client() const = 0;
  /// Others wait for memory, and the client has not delivered for kContendedWait.
  virtual void drop_stalled() = 0;

 private:
  friend class PullWatchdog;
  std::size_t place_ = 0;
  std::uint64_t delivered_before_ = 0;
  std::chrono::steady_clock::duration still_for_{0};
};

class PullWatchdog {
 public:
  /// The connection is about to hold its first Read sink.
  void add(WatchedConnection& connection);
  /// The connection holds no Read sink any more.
  void remove(WatchedConnection& connection);
  /// A pull is complete: the time without progress starts again at zero.
  static void restart(WatchedConnection& connection);
  /// Drops stalled connections if `shortage` says that others wait for their memory. Does nothing
  /// until kWatchdogInterval has passed since the last check.
  void check(std::chrono::steady_clock::time_point now, Shortage shortage);

 private:
  std::vector<WatchedConnection*> connections_;
  std::chrono::steady_clock::time_point checked_{};
};

}  // namespace steertag::peer
