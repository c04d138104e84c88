// A client's transport to one server: RPC-over-RDMA, or records over TCP.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "client/rdma/call_result.h"
#include "client/rdma/request.h"
#include "client/rdma/reverse_service.h"

namespace steertag::peer {

/// Connections on which one call is tried (RFC 8166 4.5.5); the last loss fails it. A connection
/// that carried another call is none of them. One that carried none, as a refused one, counts for
/// every call that waits, until a connection carries one.
inline constexpr std::uint32_t kMostAttempts = 3;
/// Calls that may be queued or outstanding at a time: more than any credit value, and few enough to
/// keep XIDs apart.
inline constexpr std::size_t kMostCalls = 65536;

/// The most that is useful to have outstanding.
struct TransportLimits {
  std::uint32_t calls = 1;         // sent and not yet answered
  std::size_t transfer_bytes = 0;  // file data of all calls together
};

/// Calls are sent in the order of `submit`, several at a time. When a connection is lost they are
/// sent again on a new one. A server that was there and refuses connections is tried with pauses
/// between (ReconnectPause). Works inside `step`; callbacks come from there. They may submit and
/// give up calls, but not call `step`.
class ClientTransport {
 public:
  virtual ~ClientTransport() = default;

  /// Queues a call. It connects when there is no connection. The XID that it will carry; there is
  /// no callback after an error.
  virtual Expected<std::uint32_t, CallError> submit(Request request, CallCallback callback) = 0;
  /// Works until a callback came or `timeout` passed. Must be called until the callbacks have come.
  virtual void step(std::chrono::milliseconds timeout) = 0;
  /// Readable, as poll(2) defines, when `step` would handle an external event.
  virtual int descriptor() const = 0;
  /// How long no `step` is needed unless the descriptor becomes readable, at most `most`.
  virtual std::chrono::milliseconds idle_for(std::chrono::milliseconds most) = 0;
  /// Gives up a call: its callback gets `error`. What the server may still do to it must not meet
  /// the others, so that these may go to a new connection.
  virtual void give_up(std::uint32_t xid, CallError error) = 0;
  /// Calls that have no reply.
  virtual std::size_t pending() const = 0;
  virtual TransportLimits limits() const = 0;
  /// Hard end of the present connection, as by a cut cable.
  virtual void abort_connection() = 0;

  /// What the present connection takes in the reverse direction; before the first connection, what
  /// every one takes. Nothing if the client does not answer the server's calls over this transport.
  virtual std::optional<ReverseLimits> reverse_limits() const { return std::nullopt; }
  /// `service` answers the server's calls from now on; with nullptr none are answered. It must
  /// exist before the connection does (RFC 8167 6: ready before the server may call), and until it
  /// is taken back.
  virtual void serve_reverse(ReverseService* /*service*/) {}
  /// The number of the present connection, or of the last; 0 before the first.
  virtual std::uint64_t connection_number() const { return 0; }
};

}  // namespace steertag::peer
