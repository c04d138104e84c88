// The reactor over epoll, an eventfd and a lazily corrected heap of deadlines.
#include "fabric/iwarp/reactor.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>

namespace steertag::fabric::iwarp {
namespace {

constexpr std::uint64_t kWakeKey = 0;
constexpr std::size_t kMostEventsPerTurn = 64;  // then deadlines and posted work get their turn

}  // namespace

Reactor::Reactor(Clock clock)
    : clock_(std::move(clock)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWakeKey;
  ::epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, event_.fd(), &event);
  round_time_ = now();
}

Reactor::Key Reactor::add(Channel& channel, int fd, std::uint32_t events) {
  const Key key = next_key_++;
  entries_.emplace(key, Entry{&channel, fd, events});
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  ::epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, fd, &event);
  return key;
}

void Reactor::watch(Key key, std::uint32_t events) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.events == events) {
    return;
  }
  found->second.events = events;
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  ::epoll_ctl(epoll_.fd(), EPOLL_CTL_MOD, found->second.fd, &event);
}

void Reactor::remove(Key key) {
  const auto found = entries_.find(key);
  if (found != entries_.end()) {
    ::epoll_ctl(epoll_.fd(), EPOLL_CTL_DEL, found->second.fd, nullptr);
    entries_.erase(found);
  }
}

void Reactor::set_deadline(Key key, Time deadline) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    return;
  }
  found->second.deadline = deadline;
  // A deadline that moves back is corrected when the old one fires: no heap work per message.
  if (deadline < found->second.scheduled) {
    schedule(key, found->second);
  }
}

void Reactor::schedule(Key key, Entry& entry) {
  entry.scheduled = entry.deadline;
  due_.push_back({entry.deadline, key});
  std::push_heap(due_.begin(), due_.end(), std::greater<>());
}

int Reactor::wait_ms(std::chrono::milliseconds timeout) {
  std::int64_t wait = std::max<std::int64_t>(timeout.count(), 0);
  if (!due_.empty()) {
    constexpr Time kMillisecond = 1'000'000;
    const Time left = std::max<Time>(due_.front().time - now(), 0);
    wait = std::min(wait, (left + kMillisecond - 1) / kMillisecond);
  }
  return static_cast<int>(std::min<std::int64_t>(wait, INT32_MAX));
}

void Reactor::turn(std::chrono::milliseconds timeout) {
  std::array<epoll_event, kMostEventsPerTurn> ready;
  const int count =
      ::epoll_wait(epoll_.fd(), ready.data(), static_cast<int>(ready.size()), wait_ms(timeout));
  round_time_ = now();
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    if (event.data.u64 == kWakeKey) {
      std::uint64_t value = 0;
      woken_ = ::read(event_.fd(), &value, sizeof value) == sizeof value || woken_;
      continue;
    }
    // A channel may have been removed by one that came before it in this round.
    const auto found = entries_.find(event.data.u64);
    if (found != entries_.end()) {
      found->second.channel->on_ready(event.events);
    }
  }
  fire_deadlines();
}

void Reactor::fire_deadlines() {
  while (!due_.empty() && due_.front().time <= round_time_) {
    const Due due = due_.front();
    std::pop_heap(due_.begin(), due_.end(), std::greater<>());
    due_.pop_back();
    const auto found = entries_.find(due.key);
    if (found == entries_.end()) {
      continue;
    }
    Entry& entry = found->second;
    if (entry.scheduled == due.time) {
      entry.scheduled = kNever;
    }
    if (entry.deadline <= round_time_) {
      entry.deadline = kNever;
      entry.channel->on_deadline();
    } else if (entry.deadline < entry.scheduled) {
      schedule(due.key, entry);
    }
  }
}

void Reactor::wake() {
  const std::uint64_t one = 1;
  // A full counter already wakes, so the result does not matter.
  [[maybe_unused]] const auto written = ::write(event_.fd(), &one, sizeof one);
}

bool Reactor::take_woken() {
  return std::exchange(woken_, false);
}

}  // namespace steertag::fabric::iwarp
