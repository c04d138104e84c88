// What a deviation of the server changes: its options, and its messages as an interposer sees them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "deviations/server/session_history.h"
#include "server/server_options.h"
#include "wire/draft.h"

namespace steertag::deviations {

struct History;

/// A connection request of a client. `step` is how the server answers it.
struct Connecting {
  View client_data;
  peer::AcceptStep& step;
  struct ServerHistory& server;
};

/// A Send that has arrived, before the server sees it.
class Arriving {
 public:
  Arriving(peer::Arrival& arrival,
           const std::shared_ptr<peer::InterposedConnection>& its_connection, History& its_history)
      : connection(its_connection), history(its_history), arrival_(arrival) {}

  View message() const { return arrival_.instead ? View(*arrival_.instead) : arrival_.message; }
  void replace(Bytes message) { arrival_.instead = std::move(message); }
  /// The server sees the message after this mutation of engine/mutate.
  void mutate(std::string_view mutation);
  /// The server sees nothing of it.
  void take() { arrival_.taken = true; }
  bool taken() const { return arrival_.taken; }
  /// Takes it, and its receive is never posted again.
  void take_with_receive() { arrival_.taken = arrival_.keeps_receive = true; }
  /// The server sees it. If it answers a callback, its receive is never posted again.
  void lose_receive_of_answer() { arrival_.keeps_receive = true; }
  /// Takes it and answers it with ERR_CHUNK.
  void refuse();
  /// Takes it and ends the connection.
  void abort();

  const std::shared_ptr<peer::InterposedConnection>& connection;
  History& history;

 private:
  peer::Arrival& arrival_;
};

/// A message that is about to leave, as values. What the changes leave here is posted: the RDMA
/// Writes, the Send, then `sends_after` and `reads_after`.
struct Departing {
  struct Write {
    Bytes octets;
    std::uint32_t stag = 0;
    std::uint64_t offset = 0;
  };
  struct Read {
    std::uint32_t stag = 0;
    std::uint64_t offset = 0;
    std::uint32_t length = 0;
  };

  peer::Departure::Kind kind = peer::Departure::Kind::reply;
  const wire::Header* call = nullptr;  // the transport header of the call; none with a callback
  View rpc_call;                       // unreduced; empty if the call was not executed
  const peer::ReplyPayload* rpc_reply = nullptr;  // with an error: the reply that no chunk can take
  wire::Draft draft;                              // the Send
  std::vector<Write> writes;
  std::optional<std::uint32_t> invalidate;
  bool writes_last = false;          // behind the Send
  bool withheld = false;             // nothing is posted
  bool aborts = false;               // the connection ends instead
  bool waits_for_callbacks = false;  // posted once the client has answered all callbacks
  std::shared_ptr<peer::InterposedConnection> connection;  // may be replaced by another
  std::vector<Bytes> sends_after;
  std::vector<Read> reads_after;
  History* history = nullptr;

  bool is_reply() const { return kind == peer::Departure::Kind::reply; }
  bool is_error() const { return kind == peer::Departure::Kind::error; }
  bool is_error(wire::ErrorCode code) const {
    return is_error() && draft.error == static_cast<std::uint32_t>(code);
  }
  /// Applies a mutation of engine/mutate to the Send, if it has what that changes.
  void mutate(std::string_view mutation);
  bool is_callback() const { return kind == peer::Departure::Kind::callback; }
  bool has_rpc_reply() const { return rpc_reply && rpc_reply->size() > 0; }
};

/// What all connections have seen before, for deviations that need another connection.
struct ServerHistory {
  bool hangs = false;  // nothing is taken and nothing is sent any more
  bool ends = false;   // the program has to end
  std::optional<std::optional<wire::PrivateData>> first_announcement;  // of the first client
  std::set<std::uint32_t> lost_calls;  // XIDs of calls over which a connection was lost
  std::uint32_t lost_pulls = 0;        // connections that ended with calls in History::pulled
  std::uint32_t refused_pulls = 0;     // connections that ended because an RDMA Read was refused
  std::map<std::string, std::uint32_t> first_xids;  // by SessionRequest::slot_key
  // By session: the connection that used it first.
  std::map<std::string, std::weak_ptr<peer::InterposedConnection>> session_connections;
  std::optional<Bytes> lost_reply;  // sent last on a connection that is down
  Bytes receive;                    // what messages have left in the receives of all connections
  std::optional<std::uint32_t> long_call;  // XID of the latest RDMA_NOMSG
  Bytes pulled;                            // what long calls have left in their memory
  std::set<const History*> callers;        // connections that are up and have sent something
};

/// What one connection has seen before, for deviations that need an earlier message.
struct History {
  ServerHistory* server = nullptr;
  std::optional<std::uint32_t> earlier_stag;  // of the last call with chunks that was answered
  std::uint64_t replies = 0;
  std::deque<std::uint32_t> calls;       // XIDs of the latest calls, answered or not
  std::set<std::uint32_t> pulled;        // XIDs of calls with read chunks that have no answer
  std::set<std::uint32_t> callbacks;     // XIDs of callbacks that have no answer
  std::uint32_t callback_grant = 0;      // the largest in a reply to a callback
  std::optional<std::uint32_t> program;  // of the first call
  std::uint32_t requests = 0;            // of NFS version 4
  Bytes receive;                         // what messages have left in the receives
  std::optional<Bytes> last_reply;
  std::vector<Departing> waiting;  // for answers to callbacks
};

/// Kinds of departing messages.
bool replies(const Departing& departing);
bool inline_replies(const Departing& departing);  // RDMA_MSG
bool version_errors(const Departing& departing);  // ERR_VERS
bool chunk_errors(const Departing& departing);    // ERR_CHUNK
bool callbacks(const Departing& departing);
bool recalls(const Departing& departing);  // CB_NULL is none

/// A mutation of engine/mutate, by its name, and the messages that it changes.
struct MessageMutation {
  bool (*of)(const Departing& departing) = nullptr;
  std::string_view name{};
};

/// Functions that are null change nothing. Each is called for every such event of the server.
struct ServerChange {
  void (*options)(peer::ServerOptions& options) = nullptr;  // once, before the server starts
  void (*accept)(Connecting& connecting) = nullptr;
  void (*arrival)(Arriving& arriving) = nullptr;
  void (*call)(peer::CallStep& call) = nullptr;
  void (*later_call)(peer::CallStep& call, ServerHistory& server) = nullptr;
  void (*reply)(peer::ReplyStep& reply) = nullptr;
  MessageMutation mutation{};  // before `departure`
  void (*departure)(Departing& departing) = nullptr;
  void (*session_call)(peer::CallStep& call, SessionTable& sessions) = nullptr;
  void (*session_reply)(peer::ReplyStep& reply, SessionTable& sessions) = nullptr;
  void (*callback)(peer::CallbackStep& callback, SessionTable& sessions) = nullptr;
  void (*down)(const fabric::CloseReason& reason, History& history) = nullptr;

  bool changes_departures() const { return departure || mutation.of; }
  void depart(Departing& departing) const;
  bool needs_sessions() const { return session_call || session_reply || callback; }
  bool needs_interposer() const {
    return accept || arrival || call || later_call || reply || changes_departures() || down ||
           needs_sessions();
  }
};

}  // namespace steertag::deviations
