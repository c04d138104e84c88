// Applies the changes of deviations to the messages of a server.
#include "deviations/server/server_interposer.h"

#include <algorithm>
#include <utility>

#include "rpc/direction.h"

namespace steertag::deviations {
namespace {

/// Of one connection. A client has at most its credits under way, and kMostCredits is the limit.
constexpr std::size_t kMostCalls = peer::kMostCredits;

Bytes joined(std::span<const View> parts) {
  Bytes whole;
  for (const View part : parts) whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

Departing as_values(const peer::Departure& departure) {
  Departing departing;
  departing.kind = departure.kind;
  departing.call = departure.call;
  departing.rpc_call = departure.rpc_call;
  departing.rpc_reply = departure.reply;
  departing.draft = wire::draft_of(joined(departure.parts));
  for (const peer::RemoteWrite& write : departure.writes)
    departing.writes.push_back(
        {Bytes(write.from.begin(), write.from.end()), write.stag, write.offset});
  departing.invalidate = departure.invalidate;
  return departing;
}

/// An operation that fails ends the connection, and the server learns it from there.
void post(Departing departing) {
  peer::InterposedConnection& connection = *departing.connection;
  const auto writes = [&] {
    for (Departing::Write& write : departing.writes)
      (void)connection.write(std::move(write.octets), write.stag, write.offset);
  };
  if (!departing.writes_last) writes();
  Bytes message;
  wire::encode(departing.draft, message);
  (void)connection.send(std::move(message), departing.invalidate);
  if (departing.writes_last) writes();
  for (Bytes& send : departing.sends_after) (void)connection.send(std::move(send));
  for (const Departing::Read& read : departing.reads_after)
    (void)connection.read(read.stag, read.offset, read.length);
}

/// An STag that the client offered with the call: of its write list, else its read list, else its
/// reply chunk.
std::optional<std::uint32_t> offered_stag(const wire::Header& call) {
  if (call.write_list.segment_count() > 0 && !call.write_list[0].empty())
    return call.write_list[0].front().handle;
  if (!call.read_list.empty()) return call.read_list.front().target.handle;
  if (!call.reply_chunk.empty()) return call.reply_chunk.front().handle;
  return std::nullopt;
}

void note_callback(History& history, View message) {
  const auto payload = message.size() < wire::kSmallestHeaderBytes
                           ? View()
                           : message.subspan(wire::kSmallestHeaderBytes);
  if (const auto xid = rpc::xid(payload)) history.callbacks.insert(*xid);
}

/// What the server gets to see of a message.
void note_arrival(History& history, View message) {
  wire::Header header;
  const auto payload = wire::decode(message, header);
  if (!payload) return;
  if (header.proc == wire::Procedure::error ||
      rpc::direction(*payload) == rpc::MessageType::REPLY) {
    history.callbacks.erase(header.xid);
    return;
  }
  if (history.calls.size() == kMostCalls) history.calls.pop_front();
  history.calls.push_back(header.xid);
  if (!header.read_list.empty() && history.pulled.size() < kMostCalls)
    history.pulled.insert(header.xid);
}

void note_departure(History& history, const peer::Departure& departure) {
  if (!departure.call) return;
  history.pulled.erase(departure.call->xid);
  if (departure.kind != peer::Departure::Kind::reply) return;
  ++history.replies;
  if (const auto stag = offered_stag(*departure.call)) history.earlier_stag = stag;
}

}  // namespace

ServerInterposer::ServerInterposer(std::vector<ServerChange> changes)
    : changes_(std::move(changes)),
      needs_sessions_(std::ranges::any_of(changes_, &ServerChange::needs_sessions)) {}

History& ServerInterposer::history(const peer::InterposedConnection& connection) {
  History& history = histories_[connection.number()];
  history.server = &server_;
  return history;
}

void ServerInterposer::on_request(View private_data, peer::AcceptStep& step) {
  Connecting connecting{private_data, step, server_};
  for (const ServerChange& change : changes_) {
    if (change.accept) change.accept(connecting);
  }
  if (server_.hangs) step.answer = peer::AcceptStep::Answer::keep;
}

void ServerInterposer::on_arrival(const std::shared_ptr<peer::InterposedConnection>& connection,
                                  peer::Arrival& arrival) {
  History& seen = history(*connection);
  Arriving arriving(arrival, connection, seen);
  for (const ServerChange& change : changes_) {
    if (change.arrival && !arriving.taken()) change.arrival(arriving);
  }
  if (server_.hangs || server_.ends) return arriving.take();
  if (arriving.taken()) return;
  note_arrival(seen, arriving.message());
  if (!seen.callbacks.empty()) return;
  for (Departing& departing : std::exchange(seen.waiting, {})) post(std::move(departing));
}

void ServerInterposer::on_call(peer::CallStep& call) {
  if (needs_sessions_) sessions_.note_call(call.message);
  for (const ServerChange& change : changes_) {
    if (call.outcome || call.disconnects) break;
    if (change.call) change.call(call);
    if (change.later_call) change.later_call(call, server_);
    if (change.session_call) change.session_call(call, sessions_);
  }
  if (server_.hangs) call.outcome = peer::Outcome::discard;
}

void ServerInterposer::on_reply(peer::ReplyStep& reply) {
  if (needs_sessions_ && reply.outcome == peer::Outcome::reply) sessions_.note_reply(reply);
  for (const ServerChange& change : changes_) {
    if (reply.outcome != peer::Outcome::reply) break;
    if (change.reply) change.reply(reply);
    if (change.session_reply) change.session_reply(reply, sessions_);
  }
}

void ServerInterposer::on_callback(peer::CallbackStep& callback) {
  for (const ServerChange& change : changes_) {
    if (change.callback) change.callback(callback, sessions_);
  }
}

bool ServerInterposer::on_departure(const std::shared_ptr<peer::InterposedConnection>& connection,
                                    const peer::Departure& departure) {
  History& seen = history(*connection);
  if (departure.kind == peer::Departure::Kind::callback)
    note_callback(seen, joined(departure.parts));
  const bool any = std::ranges::any_of(changes_, &ServerChange::changes_departures);
  if (!any) {
    note_departure(seen, departure);
    return server_.hangs;
  }
  Departing departing = as_values(departure);
  departing.connection = connection;
  departing.history = &seen;
  for (const ServerChange& change : changes_) {
    if (!departing.withheld) change.depart(departing);
  }
  note_departure(seen, departure);
  if (departing.aborts) {
    connection->abort();
  } else if (departing.waits_for_callbacks && !seen.callbacks.empty()) {
    seen.waiting.push_back(std::move(departing));
  } else if (!departing.withheld && !server_.hangs) {
    post(std::move(departing));
  }
  return true;
}

void ServerInterposer::on_down(const std::shared_ptr<peer::InterposedConnection>& connection,
                               const fabric::CloseReason& reason) {
  for (const ServerChange& change : changes_) {
    if (change.down) change.down(reason, history(*connection));
  }
  histories_.erase(connection->number());
}

}  // namespace steertag::deviations
