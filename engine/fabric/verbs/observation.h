// What a connection tells its observers: events of both directions as far as this side sees them,
// memory and receives.
#pragma once

#include <vector>

#include "fabric/event_observation.h"
#include "trace/event.h"

namespace steertag::fabric::verbs {

class Observation final : public EventObservation {
 public:
  using EventObservation::EventObservation;
  using EventObservation::observe;

  /// The connection was accepted: from now on memory and receives are told, first the present ones.
  void start();
  void received_posted(std::size_t size);

 private:
  std::vector<trace::ReceivePosted> early_receives_;  // posted before the start
};

}  // namespace steertag::fabric::verbs
