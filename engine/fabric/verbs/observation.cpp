// Passes receives to the observers of a connection.
#include "fabric/verbs/observation.h"

#include <utility>

namespace steertag::fabric::verbs {

void Observation::start() {
  EventObservation::start();
  for (const trace::ReceivePosted& posted : std::exchange(early_receives_, {})) {
    by_us(posted);
  }
}

void Observation::receive_posted(std::size_t size) {
  const auto octets = static_cast<std::uint32_t>(size);
  if (started()) {
    by_us(trace::ReceivePosted{1, octets});
  } else if (!early_receives_.empty() && early_receives_.back().size == octets) {
    ++early_receives_.back().count;
  } else {
    early_receives_.push_back({1, octets});
  }
}

}  // namespace steertag::fabric::verbs
