// Deadlines and later work of a client.
#include "peer/client/call_schedule.h"

#include <algorithm>

namespace steertag::peer {

void CallSchedule::call(Request request, CallCallback callback) {
  // The XID is known only after `submit`, but no callback comes before it returns.
  auto xid = std::make_shared<std::uint32_t>(0);
  const auto submitted = carrier_.submit(
      std::move(request), [this, xid, callback](Expected<CallReply, CallError> outcome) {
        waiting_.erase(*xid);
        callback(std::move(outcome));
      });
  if (!submitted) {
    later(std::chrono::milliseconds{0},
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
    carrier_.give_up(
        xid, {CallErrc::timed_out, "no reply within " + std::to_string(timeout_.count()) + " ms"});
  }
}

bool CallSchedule::act() {
  const Time now = clock_();
  std::vector<std::function<void()>> due;
  while (!actions_.empty() && actions_.begin()->first <= now) {
    due.push_back(std::move(actions_.begin()->second));
    actions_.erase(actions_.begin());
  }
  for (const auto& action : due) action();
  return !due.empty();
}

void CallSchedule::step(std::chrono::milliseconds timeout) {
  using std::chrono::milliseconds;
  give_up_late();
  if (act()) timeout = milliseconds{0};
  drop_ended();
  const Time now = clock_();
  const auto until = [&](Time time) {
    const auto left = std::chrono::ceil<milliseconds>(time - now);
    timeout = std::clamp(left, milliseconds{0}, timeout);
  };
  if (!deadlines_.empty()) until(deadlines_.front().time);
  if (!actions_.empty()) until(actions_.begin()->first);
  carrier_.step(timeout);
}

}  // namespace steertag::peer
