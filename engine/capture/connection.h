// What readers of captures tell of an RPC-over-RDMA connection, and to whom.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "capture/packet.h"
#include "trace/event.h"

namespace steertag::capture {

/// How the frames of a connection looked.
enum class Fabric : std::uint8_t { iwarp, rocev2, infiniband };
/// "iWARP", "RoCEv2", "InfiniBand".
std::string_view name(Fabric fabric);

/// One end of a connection, as text that people know: "192.0.2.1:50000" or "[2001:db8::1]:20049"
/// for iWARP, "192.0.2.1 qp 0x000011" for RoCEv2, "lid 4 qp 0x000011" for InfiniBand.
struct Ends {
  std::string client;
  std::string server;
};

struct ConnectionName {
  Fabric fabric = Fabric::iwarp;
  Ends ends;
};

/// Why a part of a connection could not be read. What is lost is never turned into a violation.
enum class LossKind : std::uint8_t {
  joined,    // the capture has no beginning of the connection
  missing,   // packets are not in the capture
  cut,       // packets are there, but not whole
  damaged,   // octets that are no frame of the protocol; the fault may be the sender's
  overflow,  // more than a named limit allows to keep
};
/// A sentence part: "packets are missing" ...
std::string_view sentence(LossKind kind);

/// Takes what a reader finds out about one connection, in the order in which the two sides can have
/// known it. Live runs and captures give the same events.
class ConnectionSink {
 public:
  virtual ~ConnectionSink() = default;
  /// `place` is that of the packet that completed the event. What the capture does not hold of a
  /// Send makes it no event but a loss; of RDMA data only the payload may be missing.
  virtual void on_event(const Place& place, const trace::Event& event) = 0;
  /// Something of what `actor` sent before `place` is not known. Messages that were sent before may
  /// never show up, and later ones may refer to what was never seen.
  virtual void on_loss(const Place& place, trace::Role actor, LossKind kind) = 0;
  /// Told where acknowledgments are packets of their own, RoCE and InfiniBand: `actor` acknowledged
  /// what the other side had sent up to the packet `upto`.
  virtual void on_received(const Place& /*place*/, trace::Role /*actor*/, const Place& /*upto*/) {}
  /// The same, before each packet of a message of `actor`. `in_order`: nothing that it sent before
  /// is missing or came late; what is recorded before this packet was sent before it, if it was
  /// acknowledged too.
  virtual void on_turn(const Place& /*place*/, trace::Role /*actor*/, bool /*in_order*/) {}
  /// Nothing more will come. `place.frame` is 0 if the capture ended first.
  virtual void on_end(const Place& place) = 0;
};

/// Opens a sink for each RPC-over-RDMA connection that is found.
class ConnectionSinks {
 public:
  virtual ~ConnectionSinks() = default;
  /// `place` is that of the connection's first packet. The sink must outlive the connection's
  /// on_end; it may be destroyed after that.
  virtual ConnectionSink& open(const Place& place, const ConnectionName& name) = 0;
};

}  // namespace steertag::capture
