// What a connection tells its observers: events of both directions, memory, receives and octets.
#pragma once

#include <sys/uio.h>

#include <span>

#include "fabric/iwarp/message_receiver.h"
#include "fabric/iwarp/ring.h"
#include "fabric/iwarp/steering.h"
#include "fabric/net_names.h"
#include "trace/event.h"

namespace steertag::fabric::iwarp {

class Observation final : public MemoryObserver {
 public:
  Observation(const Reactor& reactor, IwarpDomain& domain, trace::Role own)
      : reactor_(reactor), domain_(domain), own_(own) {}
  ~Observation() override { stop(); }
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  void observe(trace::EventSink* events, trace::ByteSink* bytes);
  bool wants_events() const { return events_ != nullptr; }

  void event(trace::Role actor, trace::Body body);
  void by_us(trace::Body body) { event(own_, std::move(body)); }
  void by_peer(trace::Body body) { event(trace::other(own_), std::move(body)); }
  /// Octets that we sent or received; for a gather list its first `count` octets.
  void octets(trace::Role sender, View bytes);
  void octets_sent(std::span<const iovec> pieces, std::size_t count);
  void end(trace::Role sender, bool clean);

  /// The connection was accepted: from now on memory and receives are told, first the present ones.
  void start(const Ring<PostedReceive>& receives);
  void received_posted(std::size_t size);
  /// Memory and receives are told no more.
  void stop();

  void on_offered(const IwarpRegion& region) override;
  void on_invalidated(std::uint32_t stag, bool guard_intact) override;

 private:
  void follow_memory();

  const Reactor& reactor_;
  IwarpDomain& domain_;
  trace::Role own_;
  trace::EventSink* events_ = nullptr;
  trace::ByteSink* bytes_ = nullptr;
  std::uint64_t index_ = 0;
  bool started_ = false;
  bool following_ = false;
  bool our_end_told_ = false;
  bool peer_end_told_ = false;
};

}  // namespace steertag::fabric::iwarp
