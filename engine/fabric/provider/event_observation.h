// Reports a connection's events, and those of its domain's memory, to an observer.
#pragma once

#include <utility>

#include "fabric/net_names.h"
#include "fabric/provider/observed_memory.h"
#include "trace/event.h"

namespace steertag::fabric {

/// Common to the connections of every provider. Memory is reported from start to stop.
class EventObservation : public MemoryObserver {
 public:
  EventObservation(const Reactor& reactor, ObservedMemory& memory, trace::Role own)
      : reactor_(reactor), memory_(memory), own_(own) {}
  ~EventObservation() override { stop(); }
  EventObservation(const EventObservation&) = delete;
  EventObservation& operator=(const EventObservation&) = delete;

  bool wants_events() const { return events_ != nullptr; }

  void event(trace::Role actor, trace::Body body);
  void by_us(trace::Body body) { event(own_, std::move(body)); }
  void by_peer(trace::Body body) { event(trace::other(own_), std::move(body)); }
  /// Stops reporting memory and receives.
  void stop();

  void on_offered(const trace::MemoryOffered& offered) override { by_us(offered); }
  void on_invalidated(const trace::MemoryInvalidated& invalidated) override { by_us(invalidated); }

 protected:
  void observe(trace::EventSink* events);
  /// The connection was accepted: from now on memory is reported, open regions first.
  void start();
  bool started() const { return started_; }
  trace::Role own() const { return own_; }
  const Reactor& reactor() const { return reactor_; }

 private:
  void follow_memory();

  const Reactor& reactor_;
  ObservedMemory& memory_;
  trace::Role own_;
  trace::EventSink* events_ = nullptr;
  std::uint64_t index_ = 0;
  bool started_ = false;
  bool following_ = false;
};

}  // namespace steertag::fabric
