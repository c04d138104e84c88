// Events handed to the observers of a connection.
#include "fabric/verbs/observation.h"

#include <utility>

namespace steertag::fabric::verbs {

void Observation::observe(trace::EventSink* events) {
  events_ = events;
  follow_memory();
}

void Observation::event(trace::Role actor, trace::Body body) {
  if (events_ != nullptr) {
    events_->on_event({index_++, reactor_.now(), actor, std::move(body)});
  }
}

void Observation::start() {
  started_ = true;
  follow_memory();
  for (const trace::ReceivePosted& posted : std::exchange(early_receives_, {})) {
    by_us(posted);
  }
}

void Observation::received_posted(std::size_t size) {
  const auto octets = static_cast<std::uint32_t>(size);
  if (started_) {
    by_us(trace::ReceivePosted{1, octets});
  } else if (!early_receives_.empty() && early_receives_.back().size == octets) {
    ++early_receives_.back().count;
  } else {
    early_receives_.push_back({1, octets});
  }
}

void Observation::stop() {
  started_ = false;
  follow_memory();
}

void Observation::follow_memory() {
  const bool follow = started_ && wants_events();
  if (follow == following_) {
    return;
  }
  following_ = follow;
  if (follow) {
    domain_.add(*this);
  } else {
    domain_.remove(*this);
  }
}

void Observation::on_offered(const VerbsRegion& region) {
  by_us(trace::MemoryOffered{region.stag(), region.base(), region.open_length(),
                             region.rights().remote_read, region.rights().remote_write});
}

void Observation::on_invalidated(std::uint32_t stag, bool guard_intact) {
  by_us(trace::MemoryInvalidated{stag, guard_intact});
}

}  // namespace steertag::fabric::verbs
