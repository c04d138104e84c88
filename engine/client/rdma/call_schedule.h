// Calls with a deadline, and what is to be done later: the time of a client.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_set>
#include <vector>

#include "client/rdma/client_transport.h"
#include "endpoint/deadline_clock.h"

namespace steertag::peer {

/// How often it is asked whether the caller was interrupted.
inline constexpr std::chrono::milliseconds kInterruptPoll{100};

/// Of one server. Schedules that are joined to another are stepped with it.
class CallSchedule {
 public:
  /// `transport` must outlive the schedule. Every call has `timeout` from when it is handed over to
  /// its reply.
  CallSchedule(ClientTransport& transport, DeadlineClock clock, std::chrono::milliseconds timeout)
      : transport_(transport), clock_(std::move(clock)), timeout_(timeout) {}

  /// Hands a call over. Every outcome comes to the callback, from `step`.
  void call(Request request, CallCallback callback);
  /// Does something in `step` when the time has passed.
  void later(std::chrono::milliseconds wait, std::function<void()> action);

  /// Is asked while calls are waited for; true gives them all up, with what was to be done later.
  void set_interrupted(std::function<bool()> interrupted) { interrupted_ = std::move(interrupted); }

  /// From now on `step` of this works for the other server too, which must leave before it ends.
  void join(CallSchedule& other) { joined_.push_back(&other); }
  void leave(CallSchedule& other) { std::erase(joined_, &other); }

  /// Works until something came or `timeout` passed.
  void step(std::chrono::milliseconds timeout);
  /// Works until `done`, which must come true by the outcome of a call.
  template <class Done>
  void run_until(Done&& done) {
    while (!done()) step(timeout_);
  }

  std::chrono::steady_clock::time_point now() const { return clock_(); }
  std::chrono::milliseconds timeout() const { return timeout_; }
  ClientTransport& transport() { return transport_; }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Deadline {
    Time time;
    std::uint32_t xid;
  };
  void step_alone(std::chrono::milliseconds timeout);
  std::set<int> wait_for_any(std::chrono::milliseconds timeout);
  /// It has to be stepped although nothing is readable.
  bool is_due();
  /// From now to what is due next, at most `most`.
  std::chrono::milliseconds left(std::chrono::milliseconds most);
  void drop_ended();
  void give_up_late();
  bool act(Time until);
  bool interrupted(Time now);
  void give_up_all();

  ClientTransport& transport_;
  DeadlineClock clock_;
  std::chrono::milliseconds timeout_;
  std::unordered_set<std::uint32_t> waiting_;  // XIDs
  std::deque<Deadline> deadlines_;             // in their order; may hold ended calls
  std::multimap<Time, std::function<void()>> actions_;
  std::function<bool()> interrupted_;
  Time next_question_{};
  bool giving_up_ = false;
  std::vector<CallSchedule*> joined_;
};

}  // namespace steertag::peer
