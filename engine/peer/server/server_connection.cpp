// The responder on one connection: from a received message to an executed call.
#include "peer/server/server_connection.h"

#include <cstring>

#include "peer/server/announcement.h"
#include "peer/server/lenient_call.h"
#include "peer/server/server.h"
#include "rpc/direction.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

/// "192.0.2.1:4711" without the port: retries come from another port.
std::string host_of(const std::string& peer_name) {
  return peer_name.substr(0, peer_name.rfind(':'));
}

bool too_complex(const wire::Header& header) {
  if (header.write_list.size() > kMostChunks || header.reply_chunk.size() > kMostSegmentsPerChunk)
    return true;
  for (std::size_t chunk = 0; chunk < header.write_list.size(); ++chunk) {
    if (header.write_list[chunk].size() > kMostSegmentsPerChunk) return true;
  }
  return false;
}

}  // namespace

ServerConnection::ServerConnection(Server& server, std::uint64_t id, EndpointOptions options)
    : server_(server),
      id_(id),
      endpoint_(server.provider_, *this, options),
      most_transactions_(std::size_t{2} * options.receives) {}

ServerConnection::~ServerConnection() {
  server_.forget_waits(*this);
}

bool ServerConnection::deviates(Deviation deviation) const {
  return server_.options_.deviations.has(deviation);
}

Expected<void, fabric::Error> ServerConnection::accept(fabric::ConnectionRequest& request,
                                                       fabric::Domain& domain) {
  peer_host_ = host_of(request.peer_name());
  return endpoint_.accept(request, domain,
                          client_announcement(request.private_data(), server_.options_.deviations));
}

Transaction* ServerConnection::take_idle() {
  if (idle_.empty()) {
    if (transactions_.size() == most_transactions_) return nullptr;
    const auto index = static_cast<std::uint32_t>(transactions_.size());
    transactions_.push_back(std::make_unique<Transaction>(index, server_.options_.deviations));
    return transactions_.back().get();
  }
  Transaction* call = transactions_[idle_.back()].get();
  idle_.pop_back();
  return call;
}

void ServerConnection::on_message(ReceiveId receive, View message,
                                  std::optional<std::uint32_t> /*invalidated*/) {
  if (server_.hung_) return;
  ++server_.statistics_.messages;
  Transaction* call = take_idle();
  if (!call) {
    // Replies pile up because the client does not take them. Its receives run out next, and a
    // client that exceeds its credits then loses the connection (RFC 8166 3.3.1).
    backlog_.push_back({receive, message});
    return;
  }
  call->receive = receive;
  call->holds_receive = true;
  call->message = message;
  begin(*call);
}

void ServerConnection::begin(Transaction& call) {
  call.payload = {};
  // RFC 8166 4.5: below 28 octets nothing can be trusted.
  if (call.message.size() < wire::kSmallestHeaderBytes) {
    call.header.clear();
    if (call.message.size() >= 4) call.header.xid = wire::load_u32(call.message.data());
    if (deviates(Deviation::short_message_answered)) return send_chunk_error(call);
    return discard(call);
  }
  const wire::FixedWords words = *wire::peek(call.message);
  call.header.clear();
  call.header.xid = words.xid;
  // RFC 8166 4.5.1: the version comes first, nothing behind it may be looked at.
  if (words.vers == wire::kVersion || deviates(Deviation::version_executed))
    return begin_known_version(call, words);
  if (deviates(Deviation::version_discarded)) return discard(call);
  if (deviates(Deviation::version_error_as_chunk)) return send_chunk_error(call);
  send_version_error(call, words);
}

void ServerConnection::begin_known_version(Transaction& call, const wire::FixedWords& words) {
  using wire::Procedure;
  if (words.proc == static_cast<std::uint32_t>(Procedure::done)) {
    // RFC 8166 4.6.2.
    return deviates(Deviation::done_answered) ? send_chunk_error(call) : discard(call);
  }
  if (words.proc == static_cast<std::uint32_t>(Procedure::error)) {
    // RFC 8166 4.2.4.
    return deviates(Deviation::error_answered) ? send_chunk_error(call) : discard(call);
  }
  if (words.proc == static_cast<std::uint32_t>(Procedure::msgp)) {
    // RFC 8166 4.6.1.
    return deviates(Deviation::msgp_discarded) ? discard(call) : send_chunk_error(call);
  }
  if (words.proc > static_cast<std::uint32_t>(Procedure::error) &&
      deviates(Deviation::unknown_proc_discarded))
    return discard(call);
  if (decode(call)) return begin_call(call);
  if (!down_) on_broken_list(call);
}

bool ServerConnection::decode(Transaction& call) {
  const Deviations& deviations = server_.options_.deviations;
  if (overlooks_faults(deviations)) {
    const Bytes bent = overlook_faults(call.message, deviations);
    const auto rest = wire::decode(bent, call.header);
    if (rest) call.payload = call.message.last(rest->size());
    return rest.has_value();
  }
  const auto payload = wire::decode(call.message, call.header);
  if (!payload) return false;
  call.payload = *payload;
  return true;
}

void ServerConnection::on_broken_list(Transaction& call) {
  const bool no_chunk = call.message.size() == wire::kSmallestHeaderBytes &&
                        call.header.proc == wire::Procedure::nomsg;
  if (no_chunk && deviates(Deviation::nomsg_without_chunk_discarded)) return discard(call);
  if (deviates(Deviation::broken_list_discarded)) return discard(call);
  if (deviates(Deviation::broken_list_disconnects)) return endpoint_.disconnect();
  if (deviates(Deviation::exits_on_broken_list)) server_.failed_ = true;
  if (deviates(Deviation::hangs_on_broken_list)) server_.hung_ = true;
  if (server_.failed_ || server_.hung_) return;
  send_chunk_error(call);  // RFC 8166 4.5.2
}

void ServerConnection::begin_call(Transaction& call) {
  // RFC 8166 4.5.3: the connection was lost over this call before, so it gets no reply but an end.
  if (server_.is_failed(peer_host_, call.header.xid)) return send_chunk_error(call);
  if (too_complex(call.header)) return send_chunk_error(call);
  if (call.header.proc == wire::Procedure::msg) {
    // Looked at before anything is pulled for it; the dispatcher answers.
    const auto direction = rpc::direction(call.payload);
    if (!direction || *direction == rpc::MessageType::REPLY ||
        rpc::xid(call.payload) != call.header.xid) {
      call.pull.clear();
      return execute(call, call.payload);
    }
  }
  if (call.header.proc == wire::Procedure::nomsg && deviates(Deviation::long_call_refused))
    return send_chunk_error(call);
  bend_read_list(call);
  const PullFault fault = plan_pull(call.header.read_list, call.payload, kLargestCall, call.pull);
  switch (fault) {
    case PullFault::none:
      break;
    case PullFault::position_too_high:
    case PullFault::position_overlaps: {
      // RFC 8166 4.5.2: the header is fine, but chunks and payload stream do not fit together.
      if (deviates(Deviation::garbage_args_discarded)) return discard(call);
      call.reply.clear();
      wire::Writer writer(call.reply.stream());
      rpc::ReplyHeader::accepted(call.header.xid, rpc::AcceptStatus::GARBAGE_ARGS).encode(writer);
      return send_reply(call);
    }
    default:
      return send_chunk_error(call);
  }
  if (call.header.read_list.empty()) return execute(call, call.payload);
  if (server_.pool_.impossible(call.pull.size)) return send_chunk_error(call);
  if (start_pull(call)) return;
  call.state = TransactionState::waiting;
  server_.wait_for_memory(*this, call.index);
}

bool ServerConnection::resume(std::uint32_t transaction) {
  return start_pull(*transactions_[transaction]);
}

bool ServerConnection::start_pull(Transaction& call) {
  call.sink = server_.pool_.acquire(call.pull.size, {});
  if (!call.sink) return false;
  call.state = TransactionState::pulling;
  const MutableView sink = call.sink->bytes();
  for (const LocalCopy& copy : call.pull.copies)
    std::memcpy(sink.data() + copy.sink_offset, copy.from.data(), copy.from.size());
  for (const LocalCopy& copy : call.pull.roundups)
    std::memcpy(sink.data() + copy.sink_offset, copy.from.data(), copy.from.size());
  // What could not be read must never be executed.
  if (post_reads(call) && call.pull.reads.empty()) execute(call, sink.first(call.pull.size));
  return true;
}

bool ServerConnection::post_reads(Transaction& call) {
  for (const RemoteRead& read : call.pull.reads) {
    const auto posted = endpoint_.rdma_read(*call.sink, read.sink_offset, read.length, read.stag,
                                            read.offset, call.index);
    if (!posted && posted.error().code == fabric::Errc::unsupported && call.outstanding == 0) {
      // RFC 8166 4.5.4: the peer takes no RDMA Reads at all, so only this call is hopeless.
      send_chunk_error(call);
      return false;
    }
    if (!check(posted)) return false;
    ++call.outstanding;
    server_.statistics_.pulled_bytes += read.length;
  }
  return true;
}

void ServerConnection::execute(Transaction& call, View message) {
  bend_message(call);
  const Outcome outcome =
      server_.dispatcher_.run(call.header.xid, message, call.pull.chunks, call.reply);
  if (!deviates(Deviation::reads_after_reply)) call.sink.release();
  switch (outcome) {
    case Outcome::reply:
      return send_reply(call);
    case Outcome::chunk_error:
      return send_chunk_error(call);
    case Outcome::discard:
      return discard(call);
  }
}

}  // namespace steertag::peer
