// Who waits for memory to pull a call into, and whose turn it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace steertag::peer {

enum class PullStart : std::uint8_t {
  started,
  share_used_up,  // the connection has all it may have
  no_memory,      // the server has
};

/// A connection as the queue knows it.
class PullUser {
 public:
  virtual ~PullUser() = default;
  /// Starts to pull a call that waited, if that is possible now.
  virtual PullStart start_waiting_pull(std::uint32_t transaction) = 0;
};

/// The connections take turns; the calls of one keep their order.
class PullQueue {
 public:
  bool empty() const { return turns_.empty(); }
  void add(PullUser& user, std::uint32_t transaction);
  void forget(const PullUser& user);
  /// Starts whatever can be started. A connection that waits for the server's memory keeps its
  /// turn, so that small calls of others cannot pass a large one for ever; one that waits for its
  /// own share lets the others pass.
  void serve();

 private:
  struct Turn {
    PullUser* user;
    std::deque<std::uint32_t> waiting;  // never empty
  };
  std::deque<Turn> turns_;
};

}  // namespace steertag::peer
