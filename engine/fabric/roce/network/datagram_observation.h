// Reports the datagrams of a session, both directions, to a connection's observer.
#pragma once

#include "fabric/net_names.h"
#include "fabric/roce/network/datagrams.h"
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
  void keep(const Inbound& datagram);

  /// No octets: nothing was sent.
  void sent(const Outbound& packet) {
    if (sink_ != nullptr && !packet.octets.empty()) {
      report(own_, local_, *packet.to, packet.octets, packet.identification);
    }
  }
  void received(const Inbound& datagram) {
    if (sink_ != nullptr) {
      report(trace::other(own_), *datagram.from, local_, datagram.octets, datagram.identification);
    }
  }

 private:
  void report(trace::Role sender, const Address& from, const Address& to, View octets,
              std::uint16_t identification);

  const Reactor& reactor_;
  const Address& local_;
  trace::ByteSink* sink_ = nullptr;
  trace::Role own_ = trace::Role::client;
  Time kept_at_ = 0;
  Address kept_from_;
  std::uint16_t kept_identification_ = 0;
  Bytes kept_;
};

}  // namespace steertag::fabric::roce
