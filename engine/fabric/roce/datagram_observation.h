// Reports the datagrams of a session, both directions, to a connection's observer.
#pragma once

#include "fabric/net_names.h"
#include "trace/event.h"

namespace steertag::fabric::roce {

/// The request that made a responder's session comes before the observer; it is kept until then.
class DatagramObservation {
 public:
  DatagramObservation(const Reactor& reactor, const Address& local)
      : reactor_(reactor), local_(local) {}

  /// Reports to `sink`, or to none. `own` is our side.
  void observe(trace::ByteSink* sink, trace::Role own);
  /// Keeps the datagram for the observer.
  void keep(const Address& from, View octets);

  /// No octets: nothing was sent.
  void sent(const Address& to, View octets) {
    if (sink_ != nullptr && !octets.empty()) {
      report(own_, local_, to, octets);
    }
  }
  void received(const Address& from, View octets) {
    if (sink_ != nullptr) {
      report(trace::other(own_), from, local_, octets);
    }
  }

 private:
  void report(trace::Role sender, const Address& from, const Address& to, View octets);

  const Reactor& reactor_;
  const Address& local_;
  trace::ByteSink* sink_ = nullptr;
  trace::Role own_ = trace::Role::client;
  Time kept_at_ = 0;
  Address kept_from_;
  Bytes kept_;
};

}  // namespace steertag::fabric::roce
