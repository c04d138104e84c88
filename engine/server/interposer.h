// The interposer of a server: sees each message, and may change it.
// It sees a message before the server, or the wire, does.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "endpoint/chunk.h"
#include "endpoint/endpoint.h"
#include "server/rdma/interposed_connection.h"
#include "server/rdma/reply_payload.h"
#include "server/rpc/outcome.h"

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
  std::optional<wire::PrivateData> client;  // as the client has announced; none: the defaults apply
  Bytes rejection;
  trace::EventSink* events = nullptr;  // both must outlive the connection
  trace::ByteSink* bytes = nullptr;
};

/// A request for an optimistic connection of direct access, and how that connection is observed.
struct OptimisticStep {
  bool rejects = false;                    // whatever its ticket
  fabric::roce::SharedBend bent_response;  // to an RDMA Read; of ConnectionOptions
  trace::EventSink* events = nullptr;      // both must outlive the connection
  trace::ByteSink* bytes = nullptr;
};

/// A message that has arrived. `instead` takes its place; of one that is `taken` the server sees
/// nothing.
struct Arrival {
  View message;
  std::optional<Bytes> instead;
  bool taken = false;
  bool keeps_receive = false;  // taken, or an answer to a callback: its receive is not posted again
};

/// An RPC call over any transport, rebuilt from its chunks, before it is executed. With `outcome`
/// it is not executed; `reply` is sent if that is Outcome::reply. `chunks` are what the binding has
/// to allow.
struct CallStep {
  std::uint64_t connection = 0;
  bool rdma = false;
  View message;
  std::span<const ReadChunk> chunks;
  ReplyPayload& reply;
  std::optional<Bytes> instead;
  std::optional<Outcome> outcome;
  bool disconnects = false;  // the connection ends in place of an answer
};

/// An RPC reply over any transport, before its form is chosen.
struct ReplyStep {
  std::uint64_t connection = 0;
  bool rdma = false;
  View call;
  ReplyPayload& reply;
  Outcome outcome = Outcome::reply;
  const wire::Header* header = nullptr;  // the transport header of the call; none over TCP
  bool last_fragment = true;             // over TCP: what the record mark says
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
  const ReplyPayload* reply = nullptr;  // with an error too: the reply that no chunk can take
};

/// A call of the server to its client over any transport, before it is sent. One that is `withheld`
/// counts as sent.
struct CallbackStep {
  std::uint64_t connection = 0;
  bool rdma = false;
  Bytes& message;
  bool withheld = false;
};

/// All notices come from inside Server::poll. They may post on any connection, and must not destroy
/// the server.
class Interposer {
 public:
  virtual ~Interposer() = default;

  virtual void on_request(View /*private_data*/, AcceptStep& /*step*/) {}
  /// The request has been accepted.
  virtual void on_accepted(const std::shared_ptr<InterposedConnection>& /*connection*/) {}
  /// Its answer still depends on its ticket.
  virtual void on_optimistic(View /*private_data*/, OptimisticStep& /*step*/) {}
  virtual void on_arrival(const std::shared_ptr<InterposedConnection>& /*connection*/,
                          Arrival& /*arrival*/) {}
  virtual void on_call(CallStep& /*call*/) {}
  virtual void on_reply(ReplyStep& /*reply*/) {}
  virtual void on_callback(CallbackStep& /*callback*/) {}
  /// True: the server posts none of it. The call is over for it, whatever the interposer sends.
  virtual bool on_departure(const std::shared_ptr<InterposedConnection>& /*connection*/,
                            const Departure& /*departure*/) {
    return false;
  }
  /// The octets of an RDMA Read that the connection has posted.
  virtual void on_read(const std::shared_ptr<InterposedConnection>& /*connection*/,
                       std::uint64_t /*number*/, View /*octets*/) {}
  virtual void on_down(const std::shared_ptr<InterposedConnection>& /*connection*/,
                       const fabric::CloseReason& /*reason*/) {}
  /// True: the program that runs the server has to end.
  virtual bool ends_program() const { return false; }
};

}  // namespace steertag::peer
