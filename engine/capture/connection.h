// The interface between capture readers and the consumers of a connection's events.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "capture/packet.h"
#include "trace/event.h"

namespace steertag::capture {

/// The fabric that carried a connection.
enum class Fabric : std::uint8_t { iwarp, rocev2, infiniband };
/// "iWARP", "RoCEv2", "InfiniBand".
std::string_view name(Fabric fabric);

/// One end of a connection as text. iWARP: "192.0.2.1:50000" or "[2001:db8::1]:20049". RoCEv2:
/// "192.0.2.1 qp 0x000011". InfiniBand: "lid 4 qp 0x000011".
struct Ends {
  std::string client;
  std::string server;
};

struct ConnectionName {
  Fabric fabric = Fabric::iwarp;
  Ends ends;
  /// Of direct access (docs/direct-access.md): it carries RDMA Reads and no messages.
  bool optimistic = false;
};

/// Why a part of a connection could not be read. A loss never becomes a violation.
enum class LossKind : std::uint8_t {
  joined,    // the capture lacks the connection's beginning
  missing,   // the capture lacks packets
  cut,       // packets are truncated
  damaged,   // octets that are no frame of the protocol; the sender may be at fault
  overflow,  // a named limit was exceeded
};
/// Part of a sentence: "packets are missing" ...
std::string_view sentence(LossKind kind);

/// Some of the packets that one side sent.
struct PacketTally {
  std::uint64_t count = 0;
  std::uint64_t first_frame = 0;
  std::uint64_t last_frame = 0;
  void add(const FrameStamp& stamp) {
    if (count++ == 0) first_frame = stamp.frame;
    last_frame = stamp.frame;
  }
};

/// Receives the events of one connection, in an order that both sides can have observed. Live runs
/// and captures give the same events.
class ConnectionSink {
 public:
  virtual ~ConnectionSink() = default;
  /// `place` is the packet that completed the event. A Send that the capture holds only partly is a
  /// loss, no event. RDMA data may lack its payload.
  virtual void on_event(const FrameStamp& stamp, const trace::Event& event) = 0;
  /// Some of what `actor` sent before `place` is unknown. Earlier messages may be missing, and
  /// later ones may refer to them.
  virtual void on_loss(const FrameStamp& stamp, trace::Role actor, LossKind kind) = 0;
  /// RoCE and InfiniBand only, where acknowledgments are separate packets. `actor` acknowledged the
  /// other side's packets up to `up_to`.
  virtual void on_acknowledged(const FrameStamp& /*stamp*/, trace::Role /*actor*/,
                               const FrameStamp& /*up_to*/) {}
  /// RoCE and InfiniBand only, before each packet of a message of `actor`. With `in_order`, none of
  /// the actor's earlier packets is missing or late. Acknowledged packets that the capture has
  /// before this one were then sent before it.
  virtual void on_message_packet(const FrameStamp& /*stamp*/, trace::Role /*actor*/,
                                 bool /*in_order*/) {}
  /// RoCEv2 only, once per side before the end. Packets of `actor` have a wrong invariant CRC.
  /// Their events were reported all the same: a capture at the sender may precede the CRC's
  /// computation.
  virtual void on_wrong_crcs(trace::Role /*actor*/, const PacketTally& /*packets*/) {}
  /// The connection is over. `place.frame` is 0 if the capture ended first.
  virtual void on_end(const FrameStamp& stamp) = 0;
};

/// Opens a sink for each RPC-over-RDMA connection, and each optimistic one of direct access.
class ConnectionSinks {
 public:
  virtual ~ConnectionSinks() = default;
  /// `place` is the connection's first packet. The sink must outlive the connection's on_end.
  virtual ConnectionSink& open(const FrameStamp& stamp, const ConnectionName& name) = 0;
};

}  // namespace steertag::capture
