// Reports events of both directions, memory, receives and octets to a connection's observers.
#pragma once

#include <sys/uio.h>

#include <span>

#include "fabric/event_observation.h"
#include "fabric/iwarp/message_receiver.h"
#include "fabric/iwarp/ring.h"
#include "trace/event.h"

namespace steertag::fabric::iwarp {

class Observation final : public EventObservation {
 public:
  using EventObservation::EventObservation;

  void observe(trace::EventSink* events, trace::ByteSink* bytes);
  /// Octets that we sent or received: the first `count` octets of a gather list.
  void octets(trace::Role sender, View bytes);
  void octets_sent(std::span<const iovec> pieces, std::size_t count);
  void end(trace::Role sender, bool clean);

  /// The connection was accepted: from now on memory and receives are reported, present ones first.
  void start(const Ring<PostedReceive>& receives);
  void receive_posted(std::size_t size);

 private:
  trace::ByteSink* bytes_ = nullptr;
  bool our_end_notified_ = false;
  bool peer_end_notified_ = false;
};

}  // namespace steertag::fabric::iwarp
