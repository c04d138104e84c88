// Keeps copies of the events of one connection, within limits, to be looked at or judged later.
#pragma once

#include <vector>

#include "trace/event.h"

namespace steertag::trace {

/// What a recorder keeps at most.
struct RecorderLimits {
  /// More than any case exchanges; a target that floods us must not exhaust memory.
  std::size_t events = 100'000;
  /// Octets of all Sends, private data and RDMA Write payloads together.
  std::size_t bytes = std::size_t{64} << 20;
};

/// From the first event on that passes a limit nothing is kept any more (a gap in the middle would
/// mislead), only counted. The exception is the payload of an RDMA Write: if it alone is too large
/// the event is kept with its true length and without payload.
class Recorder : public EventSink {
 public:
  explicit Recorder(const RecorderLimits& limits = {}) : limits_(limits) {}

  void on_event(const Event& event) override;

  std::size_t size() const { return records_.size(); }
  /// Views within the event are valid until `clear`, or until the recorder is destroyed.
  const Event& operator[](std::size_t i) const { return records_[i].event; }
  /// Events that came and were not kept.
  std::uint64_t dropped() const { return dropped_; }
  /// Hands everything kept to `sink`, in order.
  void replay(EventSink& sink) const;
  /// Forgets everything, dropped events included.
  void clear();

 private:
  struct Record {
    Event event;  // its views point into `octets`, whose memory does not move with the record
    Bytes octets;
  };
  RecorderLimits limits_;
  std::vector<Record> records_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace steertag::trace
