// Passes receives to the observers of a connection.
#include "fabric/software/observation.h"

namespace steertag::fabric::software {

void Observation::start(const PostedReceives& receives) {
  EventObservation::start();
  if (!wants_events()) {
    return;
  }
  trace::ReceivePosted posted{0, 0};
  for (std::uint64_t i = receives.first(); i < receives.end(); ++i) {
    const auto size = static_cast<std::uint32_t>(receives.at(i).buffer.size());
    if (posted.count > 0 && size != posted.size) {
      by_us(posted);
      posted.count = 0;
    }
    posted.size = size;
    ++posted.count;
  }
  if (posted.count > 0) {
    by_us(posted);
  }
}

void Observation::receive_posted(std::size_t size) {
  if (started() && wants_events()) {
    by_us(trace::ReceivePosted{1, static_cast<std::uint32_t>(size)});
  }
}

}  // namespace steertag::fabric::software
