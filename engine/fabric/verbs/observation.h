// What a connection tells its observers: events of both directions as far as this side sees them,
// memory and receives.
#pragma once

#include <vector>

#include "fabric/net_names.h"
#include "fabric/verbs/region.h"
#include "trace/event.h"

namespace steertag::fabric::verbs {

class Observation final : public MemoryObserver {
 public:
  Observation(const Reactor& reactor, VerbsDomain& domain, trace::Role own)
      : reactor_(reactor), domain_(domain), own_(own) {}
  ~Observation() override { stop(); }
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  void observe(trace::EventSink* events);
  bool wants_events() const { return events_ != nullptr; }

  void event(trace::Role actor, trace::Body body);
  void by_us(trace::Body body) { event(own_, std::move(body)); }
  void by_peer(trace::Body body) { event(trace::other(own_), std::move(body)); }

  /// The connection was accepted: from now on memory and receives are told, first the present ones.
  void start();
  void received_posted(std::size_t size);
  /// Memory and receives are told no more.
  void stop();

  void on_offered(const VerbsRegion& region) override;
  void on_invalidated(std::uint32_t stag, bool guard_intact) override;

 private:
  void follow_memory();

  const Reactor& reactor_;
  VerbsDomain& domain_;
  trace::Role own_;
  trace::EventSink* events_ = nullptr;
  std::uint64_t index_ = 0;
  std::vector<trace::ReceivePosted> early_receives_;  // posted before the start
  bool started_ = false;
  bool following_ = false;
};

}  // namespace steertag::fabric::verbs
