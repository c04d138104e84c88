// The interposer of a client over RPC-over-RDMA: sees each message, and may change it.
// It sees a message before the wire, or the client, does.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "client/rdma/request.h"
#include "endpoint/endpoint.h"
#include "wire/header.h"

namespace steertag::peer {

/// A connection that is about to be requested. `endpoint` is filled in as the client would have it.
struct ConnectStep {
  std::uint64_t number = 1;   // 1: the first
  std::uint64_t refused = 0;  // of those before
  std::uint32_t credits = 0;
  EndpointOptions& endpoint;
};

/// A connection that is up. `limits` and `grant` apply until a reply says otherwise.
struct UpStep {
  const Endpoint& endpoint;
  const wire::PrivateData& announced;
  wire::Negotiated& limits;
  std::uint32_t grant = 1;  // in calls (RFC 8166 3.3.3)
};

/// A call before its form is chosen; once for each connection, and after each RDMA_ERROR.
struct RequestStep {
  Request& request;
  bool again = false;  // an earlier connection has had it
};

/// The form of a call before its chunks are made.
struct FormStep {
  Request& request;
  CallForm& form;
  fabric::Rights& result;  // of the server to the memory for results
  const wire::Negotiated& limits;
  std::uint32_t retries = 0;  // made again after RDMA_ERROR, so many times
};

/// A call that is about to be sent. The reply is checked against `header` as it is left here.
struct CallDeparture {
  const Request& request;
  const wire::Negotiated& limits;
  wire::Header& header;
  std::vector<View>& parts;              // of the Send; the first is the header's place
  fabric::Region* argument = nullptr;    // the read chunk of the eligible argument
  std::optional<Bytes> header_octets{};  // sent in place of the encoded header
  std::vector<Bytes> behind{};           // sent after the call
};

/// A message that has arrived. `instead` takes its place; of one that is `taken` the client sees
/// nothing.
struct ClientArrival {
  enum class Receive : std::uint8_t {
    repost,
    hold,  // until a call leaves when no other has
    drop,
  };
  View message;
  std::uint32_t granted = 1;    // in calls
  bool serves_reverse = false;  // the client answers calls of the server
  std::optional<Bytes> instead{};
  bool taken = false;
  std::optional<std::uint32_t> grant{};  // replaces `granted` before the client sees the message
  std::vector<Bytes> then{};             // the client sees these behind it
  std::vector<Bytes> answers{};          // sent
  Receive receive = Receive::repost;
  std::uint32_t more_receives = 0;  // posted in addition, once in the life of the connection
  bool disconnects = false;         // the connection ends behind it, in good order
};

/// The answer to a call of the server (RFC 8167).
struct AnswerStep {
  const wire::Header& call;
  View payload;    // of the call
  Bytes& message;  // the whole answer
  bool withheld = false;
};

/// All notices come from inside the client's `step`.
class ClientInterposer {
 public:
  virtual ~ClientInterposer() = default;

  virtual void on_connect(ConnectStep& /*step*/) {}
  virtual void on_up(UpStep& /*step*/) {}
  virtual void on_request(RequestStep& /*step*/) {}
  virtual void on_form(FormStep& /*step*/) {}
  virtual void on_departure(CallDeparture& /*departure*/) {}
  virtual void on_arrival(ClientArrival& /*arrival*/) {}
  virtual void on_answer(AnswerStep& /*step*/) {}
  /// The call has its outcome; no reply to it is waited for any more.
  virtual void on_ended(std::uint32_t /*xid*/) {}
  virtual void on_down() {}
};

}  // namespace steertag::peer
