// Calls whose read chunks wait for Read sinks, and the order in which connections get them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace steertag::peer {

enum class PullStart : std::uint8_t {
  started,
  share_used_up,  // the connection has all it may have
  part_used_up,   // the connections that are not proven have, together
  no_memory,      // the server has
};

/// Which connections wait for memory: none, unproven ones only, or all.
enum class Shortage : std::uint8_t { none, of_unproven, of_all };

/// A connection as the queue knows it.
class QueuedConnection {
 public:
  virtual ~QueuedConnection() = default;
  /// Starts to pull a call that waited, if that is possible now.
  virtual PullStart start_waiting_pull(std::uint32_t transaction) = 0;
  /// Whom its pulls count for; does not change.
  virtual const std::string& pull_host() const = 0;
  /// Whether the client has delivered a whole transfer on this connection.
  virtual bool proven() const = 0;
};

/// Proven and unproven connections take turns. Within each of the two the hosts take turns, and
/// within a host its connections. The calls of one connection keep their order. Of a host's
/// unproven connections the newest and the oldest take turns, because a crowd that delivers nothing
/// takes long.
class PullQueue {
 public:
  bool empty() const;
  void add(QueuedConnection& connection, std::uint32_t transaction);
  void forget(const QueuedConnection& connection);
  /// The connection has become proven.
  void promote(QueuedConnection& connection);
  /// Starts every pull that can be started, and returns who still waits. A connection that waits
  /// for the server's memory keeps its turn. Small calls of others thus cannot pass a large one for
  /// ever. A connection that waits for its own share lets the others pass.
  Shortage serve();

 private:
  struct Waiter {
    QueuedConnection* connection;
    std::deque<std::uint32_t> transactions;  // never empty
  };
  struct Host {
    std::string name;
    std::deque<Waiter> waiters;  // never empty
    bool newest_first = false;
  };
  using RoundRobin = std::deque<Host>;

  static void append(RoundRobin& hosts, Waiter waiter);
  static PullStart serve_one(RoundRobin& hosts);
  static PullStart serve_one(Host& host);

  std::array<RoundRobin, 2> hosts_;  // not proven, proven
  std::size_t next_ = 0;
};

}  // namespace steertag::peer
