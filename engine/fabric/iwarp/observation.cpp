// Passes receives and octets to the observers of a connection.
#include "fabric/iwarp/observation.h"

#include <algorithm>

namespace steertag::fabric::iwarp {

void Observation::observe(trace::EventSink* events, trace::ByteSink* bytes) {
  bytes_ = bytes;
  EventObservation::observe(events);
}

void Observation::octets(trace::Role sender, View bytes) {
  if (bytes_ != nullptr && !bytes.empty()) {
    bytes_->on_bytes(reactor().now(), sender, bytes);
  }
}

void Observation::octets_sent(std::span<const iovec> pieces, std::size_t count) {
  if (bytes_ == nullptr) {
    return;
  }
  for (const iovec& piece : pieces) {
    const std::size_t bytes = std::min(piece.iov_len, count);
    octets(own(), View(static_cast<const std::byte*>(piece.iov_base), bytes));
    count -= bytes;
    if (count == 0) {
      return;
    }
  }
}

void Observation::end(trace::Role sender, bool clean) {
  bool& told = sender == own() ? our_end_notified_ : peer_end_notified_;
  if (bytes_ != nullptr && !told) {
    bytes_->on_end(reactor().now(), sender, clean);
  }
  told = true;
}

void Observation::start(const Ring<PostedReceive>& receives) {
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

}  // namespace steertag::fabric::iwarp
