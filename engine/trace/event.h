// An event of one connection, as an omniscient observer sees it.
//
// Live runs and captures give the same events. The conformance rules consume nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "support/bytes.h"
#include "trace/endpoint.h"

namespace steertag::trace {

/// Roles of a connection: the client is the side that opened it.
enum class Role : std::uint8_t { client, server };
constexpr Role other(Role role) {
  return role == Role::client ? Role::server : Role::client;
}

/// A connection request. `private_data` is the consumer's part, without enhanced-MPA words and the
/// like.
struct Connect {
  View private_data;
};
struct Accept {
  View private_data;
};
struct Reject {
  View private_data;
};

/// A whole Send, as delivered or transmitted. `invalidated` is the STag of a Send with Invalidate.
struct Send {
  View bytes;
  std::optional<std::uint32_t> invalidated;
};

/// One tagged segment of an RDMA Write. `payload` may be empty in a truncated capture; `length` is
/// always right.
struct RdmaWrite {
  std::uint32_t stag = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  View payload;
};

/// A Read Request: the actor asks for `length` octets of the other side's memory.
struct RdmaRead {
  std::uint32_t source_stag = 0;
  std::uint64_t source_offset = 0;
  std::uint64_t length = 0;
};

/// One segment of a Read Response; the actor owns the memory that is read. `payload` may be empty:
/// an observer at the owner or a truncated capture need not have it.
struct RdmaReadResponse {
  std::uint32_t sink_stag = 0;
  std::uint64_t sink_offset = 0;
  std::uint64_t length = 0;
  View payload{};
};

/// Memory that the actor opened to its peer, or closed. Known for our own side only.
struct MemoryOffered {
  std::uint32_t stag = 0;
  std::uint64_t base = 0;
  std::uint64_t length = 0;
  bool remote_read = false;
  bool remote_write = false;
};
struct MemoryInvalidated {
  std::uint32_t stag = 0;
  bool guard_intact = true;  // false: octets outside the region's bounds were written
};

/// Receives that the actor posted on this connection. Known for our own side only, and not of
/// receives that connections share: what one of them may take is then unknown.
struct ReceivePosted {
  std::uint32_t count = 1;
  std::uint32_t size = 0;
};

/// RDMAP Terminate (RFC 5040 4.8). Layer, type and code after lenient decoding.
struct Terminate {
  std::uint8_t layer = 0;
  std::uint8_t type = 0;
  std::uint8_t code = 0;
};

/// The actor refuses one RDMA Read of the other side, by the number of its request from 1 on, and
/// the connection goes on. Only connections of direct access may have it.
struct RdmaReadRefused {
  std::uint32_t read = 0;
  Terminate cause;
};

/// The connection ended. `clean` is false for a reset or a protocol failure.
struct Disconnect {
  bool clean = true;
};

using Body = std::variant<Connect, Accept, Reject, Send, RdmaWrite, RdmaRead, RdmaReadResponse,
                          MemoryOffered, MemoryInvalidated, ReceivePosted, Terminate, Disconnect,
                          RdmaReadRefused>;

/// `index` counts from 0 within the connection. `time_ns` is from the observer's clock, for order
/// and display; of the rules only those on leases (ODAFS) measure with it. Views are valid
/// during the call that passes the event. To keep an event, copy its octets.
struct Event {
  std::uint64_t index = 0;
  std::int64_t time_ns = 0;
  Role actor = Role::client;
  Body body;
};

/// Receives the events of one connection in order.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(const Event& event) = 0;
};

/// A datagram of a connection (RoCEv2: what is behind the UDP header). Its addresses are those on
/// the wire, which checksums inside may cover. The octets are valid during the call.
struct Datagram {
  Role sender = Role::client;
  Endpoint from;
  Endpoint to;
  View octets;
  std::uint16_t identification = 0;  // of its IPv4 header, as the checksums inside imply it
};

/// Receives what one connection sends on the wire, both directions. A provider has either a byte
/// stream or datagrams.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  /// Octets of the byte stream (iWARP: TCP payload) in order, per direction.
  virtual void on_bytes(std::int64_t /*time_ns*/, Role /*sender*/, View /*bytes*/) {}
  /// The sender's half of the stream ended.
  virtual void on_end(std::int64_t /*time_ns*/, Role /*sender*/, bool /*clean*/) {}
  /// A datagram as it left or arrived; repeated ones too.
  virtual void on_datagram(std::int64_t /*time_ns*/, const Datagram& /*datagram*/) {}
};

}  // namespace steertag::trace
