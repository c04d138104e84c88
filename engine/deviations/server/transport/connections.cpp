// Deviations in how requests of NFS version 4 and their replies keep to a connection.
#include <algorithm>
#include <chrono>

#include "deviations/families.h"
#include "endpoint/limits.h"
#include "endpoint/session_request.h"
#include "nfs/binding.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

/// More than a run of the suite makes; then all are forgotten.
constexpr std::size_t kMostKept = 65536;

/// The RPC header of a call, and the rest of its inline octets.
struct InlineCall {
  rpc::CallHeader header;
  wire::Reader arguments{View()};

  bool is_version_four() const {
    return header.program == nfs::kNfsProgram && header.version == nfs::kNfsVersion4;
  }
};

std::optional<InlineCall> inline_call(const Arriving& arriving) {
  wire::Header transport;
  const auto payload = wire::decode(arriving.message(), transport);
  if (!payload) return std::nullopt;
  InlineCall call;
  call.arguments = wire::Reader(*payload);
  call.header.decode(call.arguments);
  return call.arguments.ok() ? std::optional(std::move(call)) : std::nullopt;
}

std::optional<peer::SessionRequest> request_of(const Departing& reply) {
  return reply.is_reply() ? peer::session_request(reply.rpc_call) : std::nullopt;
}

/// The XID of the request that came first in this place; nothing if this one is the first.
std::optional<std::uint32_t> first_xid(ServerHistory& server, const peer::SessionRequest& request,
                                       std::uint32_t xid) {
  if (server.first_xids.size() >= kMostKept) server.first_xids.clear();
  const auto [known, first] = server.first_xids.try_emplace(request.slot_key, xid);
  return first ? std::nullopt : std::optional(known->second);
}

void discard_repeated(Arriving& arriving) {
  wire::Header header;
  const auto payload = wire::decode(arriving.message(), header);
  const auto request = payload ? peer::session_request(*payload) : std::nullopt;
  if (request && first_xid(*arriving.history.server, *request, header.xid)) arriving.take();
}

void reply_under_first_xid(Departing& reply) {
  const auto request = request_of(reply);
  if (!request) return;
  const auto first = first_xid(*reply.history->server, *request, reply.call->xid);
  if (!first) return;
  reply.draft.xid = *first;
  if (reply.draft.payload.size() >= 4) wire::store_u32(reply.draft.payload.data(), *first);
}

void grant_nothing_to_retry(Departing& reply) {
  const auto request = request_of(reply);
  if (request && first_xid(*reply.history->server, *request, reply.call->xid))
    reply.mutate("credit.0");
}

void mark_record(Departing& reply) {
  const auto request = request_of(reply);
  if (request && request->sequence != 1 && inline_replies(reply))
    reply.mutate("payload.record-mark");
}

void send_padded(Departing& reply) {
  if (request_of(reply) && inline_replies(reply)) reply.mutate("procedure.msgp");
}

void keep_last_reply(Departing& reply) {
  const auto request = request_of(reply);
  if (!request || !request->cachethis) return;
  wire::encode(reply.draft, reply.history->last_reply.emplace());
}

void keep_lost_reply(const fabric::CloseReason& /*reason*/, History& history) {
  if (history.last_reply) history.server->lost_reply = std::move(history.last_reply);
}

void send_lost_reply(Arriving& arriving) {
  if (auto lost = std::exchange(arriving.history.server->lost_reply, std::nullopt))
    (void)arriving.connection->send(std::move(*lost));
}

void reply_on_first_connection(Departing& reply) {
  const auto request = request_of(reply);
  if (!request) return;
  auto& connections = reply.history->server->session_connections;
  if (connections.size() >= kMostKept) connections.clear();
  std::weak_ptr<peer::InterposedConnection>& known = connections[request->session];
  const auto first = known.lock();
  if (!first || !first->up()) {
    known = reply.connection;
  } else if (first != reply.connection) {
    // The memory of the call is not open to the other connection.
    reply.writes.clear();
    reply.invalidate.reset();
    reply.connection = first;
  }
}

void end_after_some_requests(Arriving& arriving) {
  constexpr std::uint32_t kMostRequests = 50;
  const auto call = inline_call(arriving);
  if (call && call->is_version_four() && ++arriving.history.requests == kMostRequests)
    arriving.abort();
}

void end_over_second_program(Arriving& arriving) {
  const auto call = inline_call(arriving);
  if (!call) return;
  std::optional<std::uint32_t>& program = arriving.history.program;
  if (!program) program = call->header.program;
  if (program != call->header.program) arriving.abort();
}

void call_back(peer::InterposedConnection& connection) {
  constexpr std::uint32_t kSomeProgram = 0x40000000;  // of callbacks: the client's choice
  constexpr std::uint32_t kXid = 1;
  wire::Header header;
  header.xid = kXid;
  header.credit = peer::kReverseCredits;
  Bytes message;
  wire::encode(header, message);
  rpc::CallHeader call;
  call.xid = kXid;
  call.program = kSomeProgram;
  call.version = 1;
  wire::Writer writer(message);
  call.encode(writer);
  (void)connection.send(std::move(message));
}

void call_back_version_zero(Arriving& arriving) {
  constexpr std::size_t kLongestTag = 1024;
  auto call = inline_call(arriving);
  if (!call || !call->is_version_four()) return;
  (void)call->arguments.opaque(kLongestTag, "tag");
  if (call->arguments.u32("minorversion") == 0 && call->arguments.ok())
    call_back(*arriving.connection);
}

void hang_after_loss(const fabric::CloseReason& reason, History& history) {
  if (reason.code != fabric::Errc::peer_closed && reason.code != fabric::Errc::local_close)
    history.server->hangs = true;
}

/// While a call of another connection waits for its data, or for its reply, nothing is looked at.
void discard_beside_reads(Arriving& arriving) {
  auto& callers = arriving.history.server->callers;
  const auto waits = [&](const History* other) {
    return other != &arriving.history && !other->pulled.empty();
  };
  if (std::ranges::any_of(callers, waits)) return arriving.take();
  callers.insert(&arriving.history);
}

void forget_caller(const fabric::CloseReason& /*reason*/, History& history) {
  history.server->callers.erase(&history);
}

/// For each stalled client. Eight of them together stay below the deadline of an answer.
constexpr std::chrono::milliseconds kBlocking{150};

void note_lost_pull(const fabric::CloseReason& /*reason*/, History& history) {
  if (!history.pulled.empty()) ++history.server->lost_pulls;
}

void note_refused_pull(const fabric::CloseReason& reason, History& history) {
  if (reason.denied && reason.denied->operation == fabric::Operation::rdma_read)
    ++history.server->refused_pulls;
}

/// The memory of those that were lost, or refused, is all that there was.
void pull_no_more(Arriving& arriving) {
  constexpr std::uint32_t kMost = 64;
  const ServerHistory& server = *arriving.history.server;
  wire::Header header;
  if ((server.lost_pulls < kMost && server.refused_pulls < kMost) ||
      !wire::decode(arriving.message(), header))
    return;
  if (!header.read_list.empty()) arriving.take();
}

constexpr Deviation kConnections[] = {
    {.name = "second-program-disconnects",
     .breaks = {"RFC8166-6.3-2"},
     .sentence = "A call of another program than the connection's first ends the connection.",
     .server = {.arrival = end_over_second_program},
     .script_shows = false},
    {.name = "connections-short-lived",
     .breaks = {"RFC8881-2.9.2-1"},
     .sentence = "A connection ends with its fiftieth request of NFS version 4.",
     .server = {.arrival = end_after_some_requests},
     .script_shows = false},
    {.name = "lost-connection-hangs",
     .breaks = {"RFC8166-4.5.5-1"},
     .sentence = "When a connection is lost, nothing is answered any more.",
     .server = {.down = hang_after_loss},
     .script_shows = false},
    {.name = "others-discarded-beside-reads",
     .breaks = {"RFC8166-3.3.3-1"},
     .sentence = "While a client leaves RDMA Reads unanswered, calls of all others are discarded.",
     .server = {.arrival = discard_beside_reads, .down = forget_caller},
     .script_shows = false},
    {.name = "blocks-inside-fpdu",
     .breaks = {"RFC8166-3.3.3-1"},
     .sentence = "Behind the first octets of an FPDU all clients wait for the rest, up to 150 ms.",
     .server = {.options =
                    [](peer::ServerOptions& options) {
                      options.iwarp.blocking.inside_fpdu = kBlocking;
                    }},
     .script_shows = false},
    {.name = "blocks-inside-message",
     .breaks = {"RFC8166-3.3.3-1"},
     .sentence = "Behind the first part of a message all clients wait for the next, up to 150 ms.",
     .server = {.options =
                    [](peer::ServerOptions& options) {
                      options.iwarp.blocking.inside_message = kBlocking;
                      options.roce.blocks_inside_message = kBlocking;
                    }},
     .script_shows = false},
    {.name = "blocks-on-untaken-writes",
     .breaks = {"RFC8166-3.3.3-1"},
     .sentence = "While a client takes no more octets all others wait, up to 150 ms.",
     .server = {.options =
                    [](peer::ServerOptions& options) {
                      options.iwarp.blocking.on_writes = kBlocking;
                    }},
     .script_shows = false},
    {.name = "blocks-on-unanswered-reads",
     .breaks = {"RFC8166-3.3.3-1"},
     .sentence = "Behind an RDMA Read all clients wait for the response, up to 150 ms.",
     .server = {.options =
                    [](peer::ServerOptions& options) {
                      options.iwarp.blocking.on_reads = kBlocking;
                    }},
     .script_shows = false},
    {.name = "memory-of-lost-pulls-kept",
     .breaks = {"RFC8166-4.5.5-1"},
     .sentence = "Behind 64 connections that ended inside of a pull no read chunk is pulled.",
     .server = {.arrival = pull_no_more, .down = note_lost_pull},
     .script_shows = false},
    {.name = "memory-of-refused-pulls-kept",
     .breaks = {"RFC8166-4.5.5-1"},
     .sentence =
         "Behind 64 connections that ended over a refused RDMA Read no read chunk is pulled.",
     .server = {.arrival = pull_no_more, .down = note_refused_pull},
     .script_shows = false},
    {.name = "repeated-request-discarded",
     .breaks = {"RFC8881-2.9.2-3"},
     .sentence = "A request that came before under its sequence ID is discarded.",
     .server = {.arrival = discard_repeated},
     .script_shows = false},
    {.name = "replay-under-first-xid",
     .breaks = {"RFC8881-2.10.6.1-3"},
     .sentence = "The reply to a retry carries the XID of the request.",
     .server = {.departure = reply_under_first_xid},
     .script_shows = false},
    {.name = "replay-grants-nothing",
     .breaks = {"RFC8881-2.9.2-7"},
     .sentence = "The reply to a retry grants no credit.",
     .server = {.departure = grant_nothing_to_retry},
     .script_shows = false},
    {.name = "lost-reply-sent-later",
     .breaks = {"RFC8881-2.9.2-5", "RFC8166-3.3.1-11"},
     .sentence = "The last reply of a connection that was lost is sent on the next one.",
     .server = {.arrival = send_lost_reply, .departure = keep_last_reply, .down = keep_lost_reply},
     .script_shows = false},
    {.name = "reply-on-first-connection",
     .breaks = {"RFC8881-2.9.2-4", "RFC8166-3.3.1-11"},
     .sentence = "All replies of a session are sent on the connection that used it first.",
     .server = {.departure = reply_on_first_connection},
     .script_shows = false},
    {.name = "session-in-records",
     .breaks = {"RFC8881-18.36.3-4", "RFC8166-4.2.4-1"},
     .sentence =
         "Over RDMA too, replies to all but a slot's first request carry the record mark of TCP.",
     .server = {.departure = mark_record},
     .script_shows = false},
    {.name = "session-padded",
     .breaks = {"RFC8881-2.10.7.3-1"},
     .sentence = "Replies to requests of a session are sent as RDMA_MSGP.",
     .server = {.departure = send_padded},
     .script_shows = false},
    {.name = "version-zero-called-back",
     .breaks = {"RFC8267-6.5.1-1"},
     .sentence = "A client of NFS version 4.0 is called back on its own connection.",
     .server = {.arrival = call_back_version_zero},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> connections_family() {
  return kConnections;
}

}  // namespace steertag::deviations
