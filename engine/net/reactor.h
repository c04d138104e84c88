// The event loop of one provider or transport: readiness of sockets and deadlines, dispatched to
// channels.
#pragma once

#include <chrono>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "net/clock.h"
#include "net/error.h"
#include "net/socket.h"

namespace steertag::net {

/// Something with a socket, or with deadlines alone. It may remove itself, or others, from inside
/// these calls.
class Channel {
 public:
  virtual ~Channel() = default;
  virtual void on_ready(std::uint32_t events) = 0;
  virtual void on_deadline() = 0;
};

class Reactor {
 public:
  using Key = std::uint64_t;  // 0 is no channel

  /// Errc::no_device if the system gives no descriptors for it.
  static Expected<Reactor, Error> open(Clock clock);

  /// Events are those of epoll. Fails if the system watches no more descriptors.
  Expected<Key, Error> add(Channel& channel, int fd, std::uint32_t events);
  /// A channel that has deadlines alone: nothing of the system is needed.
  Key add(Channel& channel);
  void watch(Key key, std::uint32_t events);
  void remove(Key key);
  /// Replaces the channel's deadline; kNever for none. A deadline that has passed already fires in
  /// the next round at the earliest, so that no channel can keep a round from ending.
  void set_deadline(Key key, Time deadline);

  /// One round: waits for readiness, a deadline, `wake` or the time-out, and dispatches.
  void turn(std::chrono::milliseconds timeout);
  /// Thread-safe; ends the current wait, or the next one.
  void wake();
  bool take_woken();

  /// The descriptor that tells from outside whether a round would find something ready.
  int descriptor() const { return epoll_.fd(); }
  /// Until the next deadline, but at most `most`.
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most);

  Time now() const { return clock_(); }
  /// The time at the start of the current round: cheap.
  Time round_time() const { return round_time_; }
  /// Sets it to now: an owner may have let any time pass since the last round.
  void begin_round() { round_time_ = now(); }

  /// Deadlines kept, outdated ones included: at most twice as many as there are channels.
  std::size_t deadlines_kept() const { return due_.size(); }

 private:
  struct Entry {
    Channel* channel = nullptr;
    int fd = -1;  // none: deadlines alone
    std::uint32_t events = 0;
    Time deadline = kNever;
    Time scheduled = kNever;  // the channel's valid heap entry; its others are outdated
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
  std::vector<Due> due_;     // a heap, soonest first; may hold outdated entries
  std::vector<Due> firing_;  // taken from the heap in this round
  Key next_key_ = 1;
  Time round_time_ = 0;
  bool woken_ = false;
};

}  // namespace steertag::net
