// Passes events to the observer of a connection.
#include "fabric/provider/event_observation.h"

namespace steertag::fabric {

void EventObservation::observe(trace::EventSink* events) {
  events_ = events;
  follow_memory();
}

void EventObservation::event(trace::Role actor, trace::Body body) {
  if (events_ != nullptr) {
    events_->on_event({index_++, reactor_.now(), actor, std::move(body)});
  }
}

void EventObservation::start() {
  started_ = true;
  follow_memory();
}

void EventObservation::stop() {
  started_ = false;
  follow_memory();
}

void EventObservation::follow_memory() {
  const bool follow = started_ && wants_events();
  if (follow == following_) {
    return;
  }
  following_ = follow;
  if (follow) {
    memory_.add(*this);
  } else {
    memory_.remove(*this);
  }
}

}  // namespace steertag::fabric
