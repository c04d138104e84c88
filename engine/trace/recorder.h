// Keeps copies of one connection's events, within limits, for display or for a judge.
#pragma once

#include <vector>

#include "trace/event.h"

namespace steertag::trace {

/// The limits of a recorder.
struct RecorderLimits {
  /// More than any case exchanges. A target that floods us must not exhaust memory.
  std::size_t events = 100'000;
  /// Octets of all Sends, private data and RDMA Write payloads together.
  std::size_t bytes = std::size_t{64} << 20;
};

/// After the first event beyond a limit, events are only counted: a gap in the middle would
/// mislead. There is one exception. An RDMA Write whose payload alone is too large is kept with its
/// true length and without payload. Read Responses are always kept so: their octets are in the
/// memory of one of the ends, and would fill that of a recorder.
class Recorder : public EventSink {
 public:
  explicit Recorder(const RecorderLimits& limits = {}) : limits_(limits) {}

  void on_event(const Event& event) override;

  std::size_t size() const { return records_.size(); }
  /// Views within the event are valid until `clear`, or until the recorder is destroyed.
  const Event& operator[](std::size_t i) const { return records_[i].event; }
  /// Events that were not kept.
  std::uint64_t dropped() const { return dropped_; }
  /// Passes all kept events to `sink`, in order.
  void replay(EventSink& sink) const;
  /// Clears everything, and the count of dropped events.
  void clear();

 private:
  struct Record {
    Event event;  // its views point into `octets`; moving the record keeps that memory in place
    Bytes octets;
  };
  RecorderLimits limits_;
  std::vector<Record> records_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace steertag::trace
