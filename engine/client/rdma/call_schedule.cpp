// Deadlines and later work of a client.
#include "client/rdma/call_schedule.h"

#include <poll.h>

#include <algorithm>
#include <utility>

namespace steertag::peer {
namespace {

using std::chrono::milliseconds;

CallError interruption() {
  return {CallErrc::timed_out, "the caller was interrupted"};
}

}  // namespace

void CallSchedule::call(Request request, CallCallback callback) {
  if (giving_up_)
    return later(milliseconds{0}, [callback] { callback(tl::unexpected(interruption())); });
  // The XID is known only after `submit`, but no callback comes before it returns.
  auto xid = std::make_shared<std::uint32_t>(0);
  const auto submitted = transport_.submit(
      std::move(request), [this, xid, callback](Expected<CallReply, CallError> outcome) {
        waiting_.erase(*xid);
        callback(std::move(outcome));
      });
  if (!submitted) {
    later(milliseconds{0},
          [callback, error = submitted.error()] { callback(tl::unexpected(error)); });
    return;
  }
  *xid = *submitted;
  waiting_.insert(*xid);
  deadlines_.push_back({clock_() + timeout_, *xid});
}

void CallSchedule::later(std::chrono::milliseconds wait, std::function<void()> action) {
  actions_.emplace(clock_() + wait, std::move(action));
}

void CallSchedule::drop_ended() {
  while (!deadlines_.empty() && !waiting_.contains(deadlines_.front().xid)) deadlines_.pop_front();
}

void CallSchedule::give_up_late() {
  const Time now = clock_();
  for (drop_ended(); !deadlines_.empty() && deadlines_.front().time <= now; drop_ended()) {
    const std::uint32_t xid = deadlines_.front().xid;
    deadlines_.pop_front();
    transport_.give_up(
        xid, {CallErrc::timed_out, "no reply within " + std::to_string(timeout_.count()) + " ms"});
  }
}

bool CallSchedule::act(Time until) {
  std::vector<std::function<void()>> due;
  while (!actions_.empty() && actions_.begin()->first <= until) {
    due.push_back(std::move(actions_.begin()->second));
    actions_.erase(actions_.begin());
  }
  for (const auto& action : due) action();
  return !due.empty();
}

bool CallSchedule::interrupted(Time now) {
  if (!interrupted_ || now < next_question_) return false;
  next_question_ = now + kInterruptPoll;
  return interrupted_();
}

// Every round ends what waits in it; what that makes others hand over fails in the next.
void CallSchedule::give_up_all() {
  giving_up_ = true;
  while (!waiting_.empty() || !actions_.empty()) {
    for (const Deadline& each : std::exchange(deadlines_, {})) {
      if (waiting_.erase(each.xid) > 0) transport_.give_up(each.xid, interruption());
    }
    act(Time::max());
  }
  giving_up_ = false;
}

milliseconds CallSchedule::left(milliseconds most) {
  if (interrupted_) most = std::min(most, kInterruptPoll);
  drop_ended();
  const Time now = clock_();
  const auto until = [&](Time time) {
    const auto left = std::chrono::ceil<milliseconds>(time - now);
    most = std::clamp(left, milliseconds{0}, most);
  };
  if (!deadlines_.empty()) until(deadlines_.front().time);
  if (!actions_.empty()) until(actions_.begin()->first);
  return most;
}

bool CallSchedule::is_due() {
  constexpr milliseconds kAny{1};
  return transport_.idle_for(left(kAny)).count() == 0;
}

/// Waits until one of the servers has something for its transport, or something is due. The
/// descriptors that are readable. None after the timeout or an interruption.
std::set<int> CallSchedule::wait_for_any(milliseconds timeout) {
  std::vector<CallSchedule*> all = joined_;
  all.push_back(this);
  std::vector<pollfd> waits;
  for (CallSchedule* one : all) {
    timeout = one->transport_.idle_for(one->left(timeout));
    waits.push_back({one->transport_.descriptor(), POLLIN, 0});
  }
  const int count = ::poll(waits.data(), waits.size(), static_cast<int>(timeout.count()));
  std::set<int> readable;
  for (const pollfd& each : waits) {
    if (count > 0 && each.revents != 0) readable.insert(each.fd);
  }
  return readable;
}

void CallSchedule::step_alone(milliseconds timeout) {
  if (interrupted(clock_())) return give_up_all();
  give_up_late();
  if (act(clock_())) timeout = milliseconds{0};
  transport_.step(left(timeout));
}

void CallSchedule::step(milliseconds timeout) {
  if (joined_.empty()) return step_alone(timeout);
  std::set<int> readable = wait_for_any(timeout);
  // Then each finds out for itself whether the caller was interrupted.
  const bool all = readable.empty();
  const auto step_now = [&](CallSchedule& one) {
    // Transports may share what the descriptor stands for. What the step of one has brought for
    // another makes that one due.
    readable.erase(one.transport_.descriptor());
    one.step_alone(milliseconds{0});
  };
  step_now(*this);
  // What these do may have others join.
  for (std::size_t i = 0; i < joined_.size(); ++i) {
    CallSchedule& one = *joined_[i];
    if (all || readable.contains(one.transport_.descriptor()) || one.is_due()) step_now(one);
  }
}

}  // namespace steertag::peer
