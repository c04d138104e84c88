// The reactor over epoll, an eventfd and a lazily corrected heap of deadlines.
#include "net/reactor.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>

namespace steertag::net {
namespace {

constexpr std::uint64_t kWakeKey = 0;
constexpr std::size_t kMostEventsPerTurn = 64;  // then deadlines and posted work run

bool control(const Socket& epoll, int action, int fd, std::uint32_t events, std::uint64_t key) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  return ::epoll_ctl(epoll.fd(), action, fd, &event) == 0;
}

}  // namespace

Expected<Reactor, Error> Reactor::open(Clock clock) {
  Socket epoll(::epoll_create1(EPOLL_CLOEXEC));
  Socket event(epoll.open() ? ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1);
  if (!event.open() || !control(epoll, EPOLL_CTL_ADD, event.fd(), EPOLLIN, kWakeKey)) {
    return tl::unexpected(Error{Errc::no_device, "epoll: " + error_text(errno)});
  }
  return Reactor(std::move(clock), std::move(epoll), std::move(event));
}

Reactor::Reactor(Clock clock, Socket epoll, Socket event)
    : clock_(std::move(clock)), epoll_(std::move(epoll)), event_(std::move(event)) {
  begin_round();
}

Expected<Reactor::Key, Error> Reactor::add(Channel& channel, int fd, std::uint32_t events) {
  const Key key = next_key_++;
  if (!control(epoll_, EPOLL_CTL_ADD, fd, events, key)) {
    return tl::unexpected(Error{Errc::no_device, "epoll: " + error_text(errno)});
  }
  entries_.emplace(key, Entry{&channel, fd, events});
  return key;
}

Reactor::Key Reactor::add(Channel& channel) {
  const Key key = next_key_++;
  entries_.emplace(key, Entry{&channel});
  return key;
}

void Reactor::watch(Key key, std::uint32_t events) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.events == events) {
    return;
  }
  found->second.events = events;
  // Uses no system resource: an added channel can always be changed and deleted.
  control(epoll_, EPOLL_CTL_MOD, found->second.fd, events, key);
}

void Reactor::remove(Key key) {
  const auto found = entries_.find(key);
  if (found != entries_.end()) {
    if (found->second.fd >= 0) {
      control(epoll_, EPOLL_CTL_DEL, found->second.fd, 0, key);
    }
    entries_.erase(found);
    drop_outdated();
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
  drop_outdated();
}

// Short-lived channels would leave their deadlines until they expire. Rebuilding the heap costs as
// much as the pushes and removals before it.
void Reactor::drop_outdated() {
  if (due_.size() <= 2 * entries_.size()) {
    return;
  }
  due_.clear();
  for (const auto& [key, entry] : entries_) {
    if (entry.scheduled != kNever) {
      due_.push_back({entry.scheduled, key});
    }
  }
  std::make_heap(due_.begin(), due_.end(), std::greater<>());
}

std::chrono::milliseconds Reactor::idle_for(std::chrono::milliseconds most) {
  std::int64_t wait = std::max<std::int64_t>(most.count(), 0);
  if (wait > 0 && !due_.empty()) {
    constexpr Time kMillisecond = 1'000'000;
    const Time left = std::max<Time>(due_.front().time - now(), 0);
    wait = std::min(wait, (left + kMillisecond - 1) / kMillisecond);
  }
  return std::chrono::milliseconds(std::min<std::int64_t>(wait, INT32_MAX));
}

void Reactor::poll(std::chrono::milliseconds timeout) {
  std::array<epoll_event, kMostEventsPerTurn> ready;
  const int count = ::epoll_wait(epoll_.fd(), ready.data(), static_cast<int>(ready.size()),
                                 static_cast<int>(idle_for(timeout).count()));
  begin_round();
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    const Key key = event.data.u64;  // a copy: the structure is packed
    if (key == kWakeKey) {
      std::uint64_t value = 0;
      woken_ = ::read(event_.fd(), &value, sizeof value) == sizeof value || woken_;
      continue;
    }
    // An earlier channel of this round may have removed this one.
    const auto found = entries_.find(key);
    if (found != entries_.end()) {
      found->second.channel->on_ready(event.events);
    }
  }
  fire_deadlines();
}

void Reactor::fire_deadlines() {
  firing_.clear();
  while (!due_.empty() && due_.front().time <= round_time_) {
    firing_.push_back(due_.front());
    std::pop_heap(due_.begin(), due_.end(), std::greater<>());
    due_.pop_back();
  }
  // Work that is scheduled from now on waits for the next round.
  for (const Due& due : firing_) {
    const auto found = entries_.find(due.key);
    if (found == entries_.end() || found->second.scheduled != due.time) {
      continue;
    }
    Entry& entry = found->second;
    entry.scheduled = kNever;
    if (entry.deadline <= round_time_) {
      entry.deadline = kNever;
      entry.channel->on_deadline();
    } else if (entry.deadline != kNever) {
      schedule(due.key, entry);
    }
  }
}

void Reactor::wake() {
  const std::uint64_t one = 1;
  // A full counter wakes too, so the result does not matter.
  [[maybe_unused]] const auto written = ::write(event_.fd(), &one, sizeof one);
}

bool Reactor::take_woken() {
  return std::exchange(woken_, false);
}

}  // namespace steertag::net
