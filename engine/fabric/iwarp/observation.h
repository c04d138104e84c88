// Reports events and octets of both directions to a connection's observers.
#pragma once

#include <sys/uio.h>

#include <span>

#include "fabric/software/observation.h"
#include "trace/event.h"

namespace steertag::fabric::iwarp {

class Observation final : public software::Observation {
 public:
  using software::Observation::Observation;

  void observe(trace::EventSink* events, trace::ByteSink* bytes);
  /// Octets that we sent or received: the first `count` octets of a gather list.
  void octets(trace::Role sender, View bytes);
  void octets_sent(std::span<const iovec> pieces, std::size_t count);
  void end(trace::Role sender, bool clean);

 private:
  trace::ByteSink* bytes_ = nullptr;
  bool our_end_notified_ = false;
  bool peer_end_notified_ = false;
};

}  // namespace steertag::fabric::iwarp
