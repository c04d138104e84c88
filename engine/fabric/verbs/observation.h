// Reports events of both directions, memory and receives to a connection's observers.
//
// The device hides some of the peer's operations from this side.
#pragma once

#include <vector>

#include "fabric/provider/event_observation.h"
#include "trace/event.h"

namespace steertag::fabric::verbs {

class Observation final : public EventObservation {
 public:
  using EventObservation::EventObservation;
  using EventObservation::observe;

  /// The connection was accepted: from now on memory and receives are reported, present ones first.
  void start();
  void receive_posted(std::size_t size);

 private:
  std::vector<trace::ReceivePosted> early_receives_;  // posted before the start
};

}  // namespace steertag::fabric::verbs
