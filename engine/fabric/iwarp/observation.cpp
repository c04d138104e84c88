// Passes octets to the observers of a connection.
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

}  // namespace steertag::fabric::iwarp
