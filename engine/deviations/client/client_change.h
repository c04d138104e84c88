// What a deviation of the client changes: its options, and its messages as an interposer sees them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "client/files/file_client.h"
#include "client/interposer.h"
#include "rpc/direction.h"

namespace steertag::deviations {

/// A call that was sent and has no outcome.
struct SentCall {
  wire::Header header;
  Bytes message;             // the whole Send
  std::uint64_t number = 0;  // in the order of sending
  std::uint32_t resent = 0;
};

/// What the client's connections have seen before, for deviations that need an earlier message.
struct ClientHistory {
  std::uint64_t connection = 0;
  std::map<std::uint32_t, SentCall> waiting;  // by XID, of the present connection
  std::uint64_t sent = 0;
  std::uint64_t ended = 0;    // calls that have their outcome
  std::uint32_t grant = 1;    // by the last reply, in calls
  std::uint64_t useless = 0;  // messages without use for the client, as a deviation counts them
  std::uint32_t calls_in_row = 0;  // of the server, without another message between them
  Bytes receive;                   // the last message, as the client has seen it
  bool ended_idle = false;         // the last connection, without a call that waited
  std::optional<Bytes> shorthand;  // of the last verifier of AUTH_SHORT
  bool has_unused_chunk = false;   // since a write chunk was offered
  std::optional<wire::Negotiated> first_limits;
  std::set<std::string> sessions;  // in which a COMPOUND was sent
  struct SlotSequence {
    std::uint32_t slot = 0;
    std::uint32_t sequence = 0;
  };
  std::map<std::uint32_t, SlotSequence>
      moved;  // by XID: the slot that the client has put the call in
  std::map<std::string, std::uint32_t> first_slots;  // last sequence id of slot 0, by session
  std::map<std::uint32_t, std::uint32_t> answered_callbacks;  // last csa_sequenceid, by slot
  std::map<std::uint32_t, std::uint32_t> spoilt_callbacks;    // likewise; their retry is refused

  SentCall* find(std::uint32_t xid);
  /// The XID of the call that was sent first; none if no call waits.
  std::optional<std::uint32_t> oldest() const;
};

/// A call that is about to be sent, with its chunks.
struct DepartingCall {
  peer::CallDeparture& step;
  ClientHistory& history;

  wire::Header& header() const { return step.header; }
  bool is_long() const { return step.header.proc == wire::Procedure::nomsg; }
  /// Applies a mutation of engine/mutate to the header, if that has what it changes.
  void mutate(std::string_view mutation) const;
};

/// Kinds of departing calls.
bool calls(const DepartingCall& call);
bool calls_of_small_thresholds(const DepartingCall& call);  // of 1024 octets

/// A mutation of engine/mutate, by its name, and the calls that it changes.
struct CallMutation {
  bool (*of)(const DepartingCall& call) = nullptr;
  std::string_view name{};
};

/// A Send that has arrived, before the client sees it.
struct ArrivingMessage {
  peer::ClientArrival& step;
  ClientHistory& history;

  View message() const { return step.instead ? View(*step.instead) : step.message; }
  void replace(Bytes message) const { step.instead = std::move(message); }
  /// The client sees the message after this mutation of engine/mutate.
  void mutate(std::string_view mutation) const;
  void take() const { step.taken = true; }
  /// The client sees nothing of the message, and ends the connection.
  void disconnect() const { step.taken = step.disconnects = true; }
  /// The client sees an ERR_CHUNK for that call instead, which fails it.
  void fail(std::uint32_t xid) const;
};

/// Kinds of arriving messages.
bool has_procedure(const ArrivingMessage& arriving, wire::Procedure procedure);
bool is_server_call(const ArrivingMessage& arriving);
/// A reply of 28 octets or more that does not decode.
bool is_bad_reply(const ArrivingMessage& arriving);
bool is_short(const ArrivingMessage& arriving);  // below 28 octets, and no error
bool is_bad_error(const ArrivingMessage& arriving);
/// Neither RDMA_ERROR nor a call of the server, under an XID that no call has.
bool is_unexpected(const ArrivingMessage& arriving);
/// Ends the connection over such a message.
template <bool (*kIs)(const ArrivingMessage&)>
void disconnect_over(ArrivingMessage& arriving) {
  if (kIs(arriving)) arriving.disconnect();
}

/// Whether the thresholds are the least. Defects that no call would survive show up there only.
bool is_small(const wire::Negotiated& limits);
/// ERR_CHUNK.
Bytes error_message(std::uint32_t xid, std::uint32_t credit);
/// The header and payload of a message; nothing if it does not decode.
struct Decoded {
  wire::Header header;
  View payload;

  bool is_call() const;
  bool is_reply() const;
};
std::optional<Decoded> decode(View message);

/// Functions that are null change nothing. Each is called for every such event of the client.
struct ClientChange {
  void (*options)(peer::FileClientOptions& options) = nullptr;  // once, before the client starts
  void (*connect)(peer::ConnectStep& step) = nullptr;
  void (*up)(peer::UpStep& step, ClientHistory& history) = nullptr;
  void (*request)(peer::RequestStep& step, ClientHistory& history) = nullptr;
  /// As `request`, of calls to data servers, which no other function sees.
  void (*data_request)(peer::RequestStep& step) = nullptr;
  void (*form)(peer::FormStep& step) = nullptr;
  CallMutation mutation{};  // before `departure`
  void (*departure)(DepartingCall& call) = nullptr;
  void (*arrival)(ArrivingMessage& arriving) = nullptr;
  void (*answer)(peer::AnswerStep& step, ClientHistory& history) = nullptr;

  void depart(DepartingCall& call) const;
  bool needs_interposer() const {
    return connect || up || request || form || mutation.of || departure || arrival || answer;
  }
};

}  // namespace steertag::deviations
