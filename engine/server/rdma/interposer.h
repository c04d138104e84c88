// What a test puts between the reference server and the wire: it sees every message that arrives or
// is about to leave, and may do something else instead. The server conforms where it does nothing.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "endpoint/chunk.h"
#include "endpoint/endpoint.h"
#include "server/rdma/line.h"

namespace steertag::peer {

/// How a connection request is answered, and how the connection is observed. `endpoint` is filled
/// in as the server would have it.
struct AcceptStep {
  enum class Answer : std::uint8_t {
    accept,
    reject,  // with `rejection` as private data
    drop,    // the stream ends without an answer
    keep,    // no answer comes
  };
  Answer answer = Answer::accept;
  EndpointOptions endpoint;
  Bytes rejection;
  trace::EventSink* events = nullptr;  // both must outlive the connection
  trace::ByteSink* bytes = nullptr;
};

/// A message that the server is about to send. Views are valid during the notice only.
struct Departure {
  enum class Kind : std::uint8_t { reply, error, callback };
  Kind kind = Kind::reply;
  const wire::Header* call = nullptr;  // the transport header of the call; none with a callback
  View rpc_call;                       // unreduced; empty if the call was not executed
  std::span<const View> parts;         // of the Send
  std::span<const RemoteWrite> writes;
  std::optional<std::uint32_t> invalidate;
};

/// All notices come from inside Server::poll. They may post on any line, and must not destroy the
/// server.
class Interposer {
 public:
  virtual ~Interposer() = default;

  virtual void on_request(View private_data, AcceptStep& step) = 0;
  /// The request has been accepted.
  virtual void on_accepted(const std::shared_ptr<Line>& line) = 0;
  /// True: the server does not look at the message.
  virtual bool on_arrival(const std::shared_ptr<Line>& line, View message) = 0;
  /// True: the server posts none of it. The call is over for it, whatever the interposer sends.
  virtual bool on_departure(const std::shared_ptr<Line>& line, const Departure& departure) = 0;
  /// The octets of an RDMA Read that the line has posted.
  virtual void on_read(const std::shared_ptr<Line>& line, std::uint64_t number, View octets) = 0;
  virtual void on_down(const std::shared_ptr<Line>& line, const fabric::CloseReason& reason) = 0;
};

}  // namespace steertag::peer
