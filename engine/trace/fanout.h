// Passes the events, or the octets, of one connection to several observers.
#pragma once

#include <utility>
#include <vector>

#include "trace/event.h"

namespace steertag::trace {

/// Passes each event to every sink, in the order of the list. The sinks must outlive it.
class Fanout : public EventSink {
 public:
  explicit Fanout(std::vector<EventSink*> sinks) : sinks_(std::move(sinks)) {}
  void on_event(const Event& event) override {
    for (EventSink* sink : sinks_) sink->on_event(event);
  }

 private:
  std::vector<EventSink*> sinks_;
};

/// The same for octets.
class ByteFanout : public ByteSink {
 public:
  explicit ByteFanout(std::vector<ByteSink*> sinks) : sinks_(std::move(sinks)) {}
  void on_bytes(std::int64_t time_ns, Role sender, View bytes) override {
    for (ByteSink* sink : sinks_) sink->on_bytes(time_ns, sender, bytes);
  }
  void on_end(std::int64_t time_ns, Role sender, bool clean) override {
    for (ByteSink* sink : sinks_) sink->on_end(time_ns, sender, clean);
  }
  void on_datagram(std::int64_t time_ns, const Datagram& datagram) override {
    for (ByteSink* sink : sinks_) sink->on_datagram(time_ns, datagram);
  }

 private:
  std::vector<ByteSink*> sinks_;
};

}  // namespace steertag::trace
