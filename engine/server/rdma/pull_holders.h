// Who holds memory for transfers that have not come whole, and since when no octets come.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "endpoint/limits.h"
#include "server/rdma/pull_queue.h"

namespace steertag::peer {

/// A connection that may hold such memory.
class PullHolder : public PullUser {
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
  friend class PullHolders;
  std::size_t place_ = 0;
  std::uint64_t delivered_before_ = 0;
  std::chrono::steady_clock::duration still_for_{0};
};

class PullHolders {
 public:
  /// It has no memory yet and takes some.
  void add(PullHolder& holder);
  /// It has given back all that it had.
  void remove(PullHolder& holder);
  /// Part of a transfer's memory was given back because it was whole: the time begins anew.
  static void note_whole(PullHolder& holder);
  /// Drops those for which others need not wait. To be called often; does nothing most of the time.
  void watch(std::chrono::steady_clock::time_point now, Shortage shortage);

 private:
  std::vector<PullHolder*> holders_;
  std::chrono::steady_clock::time_point watched_{};
};

}  // namespace steertag::peer
