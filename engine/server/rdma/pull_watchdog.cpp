// Progress of the connections that hold Read sinks.
#include "server/rdma/pull_watchdog.h"

#include <algorithm>

namespace steertag::peer {

void PullWatchdog::add(WatchedConnection& connection) {
  connection.place_ = connections_.size();
  connections_.push_back(&connection);
  restart(connection);
}

void PullWatchdog::remove(WatchedConnection& connection) {
  connections_.back()->place_ = connection.place_;
  connections_[connection.place_] = connections_.back();
  connections_.pop_back();
}

void PullWatchdog::restart(WatchedConnection& connection) {
  connection.delivered_before_ = connection.delivered_octets();
  connection.still_for_ = {};
}

void PullWatchdog::check(std::chrono::steady_clock::time_point now, Shortage shortage) {
  if (now - checked_ < kWatchdogInterval) return;
  const auto step =
      std::min<std::chrono::steady_clock::duration>(now - checked_, kMostWatchdogStep);
  checked_ = now;
  // From the end: a dropped connection may be removed, and then the last takes its place.
  for (std::size_t i = connections_.size(); i-- > 0;) {
    WatchedConnection& connection = *connections_[i];
    if (!connection.awaits_client() ||
        connection.delivered_octets() - connection.delivered_before_ >= kLeastProgressBytes) {
      restart(connection);
      continue;
    }
    connection.still_for_ += step;
    const bool wanted = shortage == Shortage::of_all ||
                        (shortage == Shortage::of_unproven && connection.holds_unproven());
    if (wanted && connection.still_for_ >= kContendedWait) connection.drop_stalled();
  }
}

}  // namespace steertag::peer
