// The responder on one connection: from a received message to an executed call.
#include "server/rdma/server_connection.h"

#include <algorithm>
#include <cstring>

#include "net/source_name.h"
#include "rpc/direction.h"
#include "server/rdma/peer_name.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

// An interposer may post the receives later. Calls need a place all the same.
constexpr std::uint32_t kFewestReceives = 1;

bool too_complex(const wire::Header& header) {
  if (header.write_list.size() > kMostChunks || header.reply_chunk.size() > kMostSegmentsPerChunk)
    return true;
  for (std::size_t chunk = 0; chunk < header.write_list.size(); ++chunk) {
    if (header.write_list[chunk].size() > kMostSegmentsPerChunk) return true;
  }
  return false;
}

}  // namespace

ServerConnection::ServerConnection(ServerContext& context, RdmaContext& rdma,
                                   EndpointOptions options, net::SourceQuota::Slot slot)
    : context_(context),
      rdma_(rdma),
      slot_(std::move(slot)),
      info_{context.next_connection++, true, {}, {}},
      endpoint_(rdma.provider, *this, options),
      most_transactions_(std::size_t{2} * std::max(options.receives, kFewestReceives)) {
  info_.most_slots = context.options.credits + (context.has_streams ? 1U : 0U);
  callbacks_ = std::make_shared<ConnectionBackchannel>(static_cast<Sender&>(*this),
                                                       context.callbacks, kFirstCallbackXid, 1);
  info_.backchannel = callbacks_;
  if (context.options.interposer)
    interposed_ =
        std::make_shared<InterposedConnection>(endpoint_, rdma.pool, *callbacks_, info_.id);
}

ServerConnection::~ServerConnection() {
  callbacks_->close();
  context_.held.forget(info_.id);
  if (interposed_) interposed_->close();
  rdma_.pulls.forget(*this);
  for (const auto& call : transactions_) release_sink(*call);
  context_.replies.give_back(reply_bytes_);
}

Expected<void, fabric::Error> ServerConnection::accept(
    fabric::ConnectionRequest& request, const std::optional<wire::PrivateData>& client,
    trace::EventSink* events, trace::ByteSink* bytes) {
  peer_name_ = request.peer_name();
  info_.peer = request.peer();
  info_.peer_host = host_of(peer_name_);
  info_.peer_port = port_of(peer_name_);
  source_ = net::source_name(info_.peer_host);
  return endpoint_.accept(request, *rdma_.domain, client, events, bytes);
}

Transaction* ServerConnection::take_idle() {
  if (idle_.empty()) {
    if (transactions_.size() == most_transactions_) return nullptr;
    const auto index = static_cast<std::uint32_t>(transactions_.size());
    transactions_.push_back(std::make_unique<Transaction>(index));
    return transactions_.back().get();
  }
  Transaction* call = transactions_[idle_.back()].get();
  idle_.pop_back();
  return call;
}

void ServerConnection::on_message(ReceiveId receive, View message,
                                  std::optional<std::uint32_t> /*invalidated*/) {
  if (dropped_) return;
  activity_ = Activity::active;
  ++context_.statistics.messages;
  bool keeps_receive = false;
  if (interposed_) {
    Arrival arrival;
    arrival.message = message;
    context_.options.interposer->on_arrival(interposed_, arrival);
    if (dropped_ || down_) return;
    keeps_receive = arrival.keeps_receive;
    if (arrival.taken) {
      if (!keeps_receive) endpoint_.repost(receive);
      return;
    }
    if (arrival.instead) message = replaced_[receive] = std::move(*arrival.instead);
  }
  if (take_callback_reply(message)) {
    if (!keeps_receive) endpoint_.repost(receive);
    return;
  }
  Transaction* call = backlog_.empty() && may_execute() ? take_idle() : nullptr;
  if (!call) return backlog_.push_back({receive, message});
  take_message(*call, receive, message);
}

void ServerConnection::take_message(Transaction& call, ReceiveId receive, View message) {
  call.arrived = context_.options.clock();
  call.receive = receive;
  call.holds_receive = true;
  call.message = message;
  begin(call);
}

void ServerConnection::begin(Transaction& call) {
  call.payload = {};
  call.rpc_call.clear();
  // RFC 8166 4.5: below 28 octets nothing can be trusted.
  if (call.message.size() < wire::kSmallestHeaderBytes) {
    call.header.clear();
    if (call.message.size() >= 4) call.header.xid = wire::load_u32(call.message.data());
    return discard(call);
  }
  const wire::FixedWords words = *wire::peek(call.message);
  call.header.clear();
  call.header.xid = words.xid;
  // RFC 8166 4.5.1: the version comes first, nothing behind it may be looked at.
  if (words.vers == wire::kVersion) return begin_known_version(call, words);
  send_version_error(call, words);
}

void ServerConnection::begin_known_version(Transaction& call, const wire::FixedWords& words) {
  using wire::Procedure;
  const auto is = [&](Procedure procedure) {
    return words.proc == static_cast<std::uint32_t>(procedure);
  };
  // RFC 8166 4.6.2, 4.2.4.
  if (is(Procedure::done) || is(Procedure::error)) return discard(call);
  if (is(Procedure::msgp)) return send_chunk_error(call);  // RFC 8166 4.6.1
  const auto payload = wire::decode(call.message, call.header);
  if (!payload) return send_chunk_error(call);  // RFC 8166 4.5.2
  call.payload = *payload;
  begin_call(call);
}

void ServerConnection::begin_call(Transaction& call) {
  // RFC 8166 4.5.3: the connection was lost over this call before, so it gets no reply but an end.
  if (!context_.failed_calls.empty() &&
      context_.failed_calls.take(info_.peer_host, CallId::of(call.header.xid, call.payload)))
    return send_chunk_error(call);
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
  const PullFault fault = plan_pull(call.header.read_list, call.payload, kLargestCall, call.pull);
  switch (fault) {
    case PullFault::none:
      break;
    case PullFault::position_too_high:
    case PullFault::position_overlaps:
      // RFC 8166 4.5.2: the header is fine, but chunks and payload stream do not fit together.
      Dispatcher::refuse_arguments(call.header.xid, call.reply);
      return answer(call, Outcome::reply);
    default:
      return send_chunk_error(call);
  }
  if (call.header.read_list.empty()) return execute(call, call.payload);
  if (rdma_.pool.impossible(call.pull.size)) return send_chunk_error(call);
  // No call passes those that wait already.
  if (rdma_.pulls.empty() && start_pull(call) == PullStart::started) return;
  call.state = TransactionState::waiting;
  rdma_.pulls.add(*this, call.index);
}

PullStart ServerConnection::start_pull(Transaction& call) {
  if (const PullStart taken = take_sink(call); taken != PullStart::started) return taken;
  call.state = TransactionState::pulling;
  const MutableView sink = call.sink->bytes();
  for (const LocalCopy& copy : call.pull.copies)
    std::memcpy(sink.data() + copy.sink_offset, copy.from.data(), copy.from.size());
  for (const LocalCopy& copy : call.pull.roundups)
    std::memcpy(sink.data() + copy.sink_offset, copy.from.data(), copy.from.size());
  if (call.pull.reads.empty()) {
    on_pulled(call);
  } else {
    call.posting.stretches.push_back(Stretch::reads);
    start_posting(call);
  }
  return PullStart::started;
}

void ServerConnection::on_pulled(Transaction& call) {
  call.state = TransactionState::pulled;
  if (pulled_.empty() && may_execute())
    return execute(call, View(call.sink->bytes()).first(call.pull.size));
  pulled_.push_back(call.index);
}

void ServerConnection::execute(Transaction& call, View message) {
  if (interposed_) call.rpc_call.assign(message.begin(), message.end());
  std::optional<Bytes> instead;
  std::span<const ReadChunk> chunks = call.pull.chunks;
  if (interposed_) {
    call.reply.clear();
    CallStep step{info_.id, true, message, call.pull.chunks, call.reply, {}, {}, false};
    context_.options.interposer->on_call(step);
    if (step.disconnects) {
      drop();
      return finish(call);
    }
    chunks = step.chunks;
    if (step.outcome) {
      release_sink(call);
      return answer(call, *step.outcome);
    }
    instead = std::move(step.instead);
    if (instead) message = *instead;
  }
  const Outcome outcome = dispatch(
      context_.dispatcher, {call.header.xid, message, chunks, call.arrived}, info_, call.reply);
  release_sink(call);
  if (!context_.held.must_wait(call.reply.tickets())) return answer(call, outcome);
  call.state = TransactionState::held;
  context_.held.hold(info_.id, call.reply.tickets(),
                     [this, &call, outcome] { answer(call, outcome); });
}

void ServerConnection::answer(Transaction& call, Outcome outcome) {
  if (interposed_ && outcome == Outcome::reply) {
    ReplyStep step{info_.id, true, call.rpc_call, call.reply, outcome, &call.header};
    context_.options.interposer->on_reply(step);
    outcome = step.outcome;
  }
  switch (outcome) {
    case Outcome::reply:
      return send_reply(call);
    case Outcome::chunk_error:
      return send_chunk_error(call);
    case Outcome::discard:
      return discard(call);
  }
}

bool ServerConnection::may_execute() const {
  return context_.replies.allows(reply_bytes_);
}

void ServerConnection::go_on() {
  if (going_on_) return;  // a call that ends at once must not nest the next one
  going_on_ = true;
  while (!dropped_ && !down_ && may_execute()) {
    if (!pulled_.empty()) {
      Transaction& call = *transactions_[pulled_.front()];
      pulled_.pop_front();
      execute(call, View(call.sink->bytes()).first(call.pull.size));
      continue;
    }
    Transaction* call = backlog_.empty() ? nullptr : take_idle();
    if (!call) break;
    const Backlog next = backlog_.front();
    backlog_.pop_front();
    take_message(*call, next.receive, next.message);
  }
  going_on_ = false;
}

void ServerConnection::look_for_idleness() {
  switch (activity_) {
    case Activity::active:
      activity_ = Activity::quiet;
      return;
    case Activity::quiet:
      activity_ = Activity::idle;
      trim();
      return endpoint_.release_receives();
    case Activity::idle:
      return;
  }
}

bool ServerConnection::trim() {
  if (idle_.size() < transactions_.size() || !posting_.empty()) return false;
  transactions_.clear();
  idle_.clear();
  heavy_ = false;
  return true;
}

}  // namespace steertag::peer
