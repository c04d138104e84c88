// Reports events of both directions, memory and receives to a connection's observers.
#pragma once

#include "fabric/provider/event_observation.h"
#include "fabric/software/posted_receive.h"

namespace steertag::fabric::software {

class Observation : public EventObservation {
 public:
  using EventObservation::EventObservation;
  using EventObservation::observe;

  /// The connection was accepted: from now on memory and receives are reported, present ones first.
  void start(const PostedReceives& receives);
  void receive_posted(std::size_t size);
};

}  // namespace steertag::fabric::software
