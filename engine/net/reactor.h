// The event loop of one provider or transport: dispatches socket events and deadlines to channels.
#pragma once

#include <chrono>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "net/clock.h"
#include "net/error.h"
#include "net/socket.h"

namespace steertag::net {

/// A user of a socket, or of deadlines alone. These calls may remove the channel itself and others.
class Channel {
 public:
  virtual ~Channel() = default;
  virtual void on_ready(std::uint32_t events) = 0;
  virtual void on_deadline() = 0;
};

class Reactor {
 public:
  using Key = std::uint64_t;  // 0 is no channel

  /// Errc::no_device if the system has no descriptors left.
  static Expected<Reactor, Error> open(Clock clock);

  /// Events are those of epoll. Fails if the system cannot watch another descriptor.
  Expected<Key, Error> add(Channel& channel, int fd, std::uint32_t events);
  /// Adds a channel with deadlines alone, which needs no system resource.
  Key add(Channel& channel);
  void watch(Key key, std::uint32_t events);
  void remove(Key key);
  /// Replaces the channel's deadline; kNever for none. A deadline in the past fires in the next
  /// round at the earliest, so that every round ends.
  void set_deadline(Key key, Time deadline);

  /// One round: waits for readiness, a deadline, `wake` or the timeout, and dispatches.
  void poll(std::chrono::milliseconds timeout);
  /// Thread-safe. Ends the current wait, or the next one.
  void wake();
  bool take_woken();

  /// The descriptor that becomes readable when a round would find something ready.
  int descriptor() const { return epoll_.fd(); }
  /// Time until the next deadline, and at most `most`.
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most);

  Time now() const { return clock_(); }
  /// The time at the start of the current round, which costs no system call.
  Time round_time() const { return round_time_; }
  /// Sets it to now. An owner may have been busy since the last round.
  void begin_round() { round_time_ = now(); }

  /// Deadlines in the heap, including outdated ones: at most twice the number of channels.
  std::size_t deadlines_kept() const { return due_.size(); }

 private:
  struct Entry {
    Channel* channel = nullptr;
    int fd = -1;  // none: deadlines alone
    std::uint32_t events = 0;
    Time deadline = kNever;
    Time scheduled = kNever;  // the channel's valid heap entry; its other entries are outdated
  };
  struct Due {
    Time time;
    Key key;
    bool operator>(const Due& other) const { return time > other.time; }
  };

  Reactor(Clock clock, Socket epoll, Socket event);
  void schedule(Key key, Entry& entry);
  void drop_outdated();
  void fire_deadlines();

  Clock clock_;
  Socket epoll_;
  Socket event_;
  std::unordered_map<Key, Entry> entries_;
  std::vector<Due> due_;     // a heap, soonest first; may have outdated entries
  std::vector<Due> firing_;  // taken from the heap in this round
  Key next_key_ = 1;
  Time round_time_ = 0;
  bool woken_ = false;
};

}  // namespace steertag::net
