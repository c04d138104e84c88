// Events and octets handed to the observers of a connection.
#include "fabric/iwarp/observation.h"

#include <algorithm>
#include <utility>

namespace steertag::fabric::iwarp {

void Observation::observe(trace::EventSink* events, trace::ByteSink* bytes) {
  events_ = events;
  bytes_ = bytes;
  follow_memory();
}

void Observation::event(trace::Role actor, trace::Body body) {
  if (events_ != nullptr) {
    events_->on_event({index_++, reactor_.now(), actor, std::move(body)});
  }
}

void Observation::octets(trace::Role sender, View bytes) {
  if (bytes_ != nullptr && !bytes.empty()) {
    bytes_->on_bytes(reactor_.now(), sender, bytes);
  }
}

void Observation::octets_sent(std::span<const iovec> pieces, std::size_t count) {
  if (bytes_ == nullptr) {
    return;
  }
  for (const iovec& piece : pieces) {
    const std::size_t bytes = std::min(piece.iov_len, count);
    octets(own_, View(static_cast<const std::byte*>(piece.iov_base), bytes));
    count -= bytes;
    if (count == 0) {
      return;
    }
  }
}

void Observation::end(trace::Role sender, bool clean) {
  bool& told = sender == own_ ? our_end_told_ : peer_end_told_;
  if (bytes_ != nullptr && !told) {
    bytes_->on_end(reactor_.now(), sender, clean);
  }
  told = true;
}

void Observation::start(const Ring<PostedReceive>& receives) {
  started_ = true;
  follow_memory();
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

void Observation::received_posted(std::size_t size) {
  if (started_ && wants_events()) {
    by_us(trace::ReceivePosted{1, static_cast<std::uint32_t>(size)});
  }
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

void Observation::stop() {
  started_ = false;
  follow_memory();
}

void Observation::on_offered(const IwarpRegion& region) {
  by_us(trace::MemoryOffered{region.stag(), region.base(), region.open_length(),
                             region.rights().remote_read, region.rights().remote_write});
}

void Observation::on_invalidated(std::uint32_t stag, bool guard_intact) {
  by_us(trace::MemoryInvalidated{stag, guard_intact});
}

}  // namespace steertag::fabric::iwarp
