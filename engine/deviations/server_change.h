// What a deviation of the server changes: its options, and its messages as an interposer sees them.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "server/server_options.h"
#include "wire/draft.h"

namespace steertag::deviations {

/// What one connection has seen before, for deviations that need an earlier message.
struct History {
  std::optional<std::uint32_t> earlier_stag;  // of the last call with chunks that was answered
  std::uint64_t replies = 0;
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
  wire::Draft draft;                   // the Send
  std::vector<Write> writes;
  std::optional<std::uint32_t> invalidate;
  bool writes_last = false;  // behind the Send
  bool withheld = false;     // nothing is posted
  std::vector<Bytes> sends_after;
  std::vector<Read> reads_after;
  const History* history = nullptr;

  bool is_reply() const { return kind == peer::Departure::Kind::reply; }
  bool is_error() const { return kind == peer::Departure::Kind::error; }
  bool is_callback() const { return kind == peer::Departure::Kind::callback; }
};

/// Functions that are null change nothing. Each is called for every such event of the server.
struct ServerChange {
  void (*options)(peer::ServerOptions& options) = nullptr;  // once, before the server starts
  void (*accept)(View client_data, peer::AcceptStep& step) = nullptr;
  void (*arrival)(peer::Arrival& arrival) = nullptr;
  void (*call)(peer::CallStep& call) = nullptr;
  void (*reply)(peer::ReplyStep& reply) = nullptr;
  void (*departure)(Departing& departing) = nullptr;

  bool needs_interposer() const { return accept || arrival || call || reply || departure; }
};

}  // namespace steertag::deviations
