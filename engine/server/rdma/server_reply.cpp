// The responder on one connection: from an executed call to its last completion.
#include <algorithm>
#include <array>

#include "server/rdma/server_connection.h"
#include "wire/xdr.h"

namespace steertag::peer {

void ServerConnection::give_back_receive(Transaction& call) {
  if (!call.holds_receive) return;
  call.holds_receive = false;
  call.message = call.payload = {};
  endpoint_.repost(call.receive);
}

void ServerConnection::discard(Transaction& call) {
  ++context_.statistics.discarded;
  give_back_receive(call);
  finish(call);
}

void ServerConnection::finish(Transaction& call) {
  call.state = TransactionState::idle;
  release_sink(call);
  if (!heavy_ && (call.is_heavy() || transactions_.size() > kKeptTransactions)) {
    heavy_ = true;
    rdma_.unsettled.push_back(id());
  }
  call.reply.clear();
  reply_bytes_ -= call.reply_bytes;
  context_.replies.give_back(std::exchange(call.reply_bytes, 0));
  idle_.push_back(call.index);
  go_on();
}

ReplyTerms ServerConnection::terms() const {
  const wire::Negotiated& negotiated = endpoint_.negotiated();
  ReplyTerms terms;
  terms.grant = context_.options.credits;
  terms.threshold_bytes = negotiated.to_client_bytes;
  terms.may_invalidate = negotiated.remote_invalidation;
  return terms;
}

void ServerConnection::send_reply(Transaction& call) {
  if (!call.plan.build(call.header, call.reply, terms())) return send_chunk_error(call);
  ++context_.statistics.replies;
  if (!call.plan.writes().empty()) {
    call.pushed = CallId::of(call.header.xid, call.payload);
    if (recent_pushes_.size() == kMostSuspects) recent_pushes_.pop_front();
    recent_pushes_.push_back(call.pushed);
  }
  // RFC 8166 3.3.1: the client may use the credit as soon as it has the reply.
  give_back_receive(call);
  call.reply_bytes = call.reply.held_bytes();
  reply_bytes_ += call.reply_bytes;
  context_.replies.take(call.reply_bytes);
  start_reply(call);
}

void ServerConnection::start_reply(Transaction& call) {
  call.state = TransactionState::replying;
  if (interpose(call, Departure::Kind::reply)) return finish(call);
  // RFC 8166 3.5.2: Writes come before the Send that announces them.
  call.posting.stretches.assign({Stretch::writes, Stretch::send});
  start_posting(call);
}

void ServerConnection::start_posting(Transaction& call) {
  posting_.push_back(call.index);
  post_some();
}

void ServerConnection::post_some() {
  while (!posting_.empty() && !dropped_) {
    Transaction& call = *transactions_[posting_.front()];
    if (call.all_posted()) {
      posting_.pop_front();
      continue;
    }
    if (posted_ == kMostPostedOperations) return;
    const auto posted = post_next(call);
    if (posted) {
      ++posted_;
      ++call.posting.outstanding;
    } else if (posted.error().code == fabric::Errc::unsupported && call.posting.outstanding == 0 &&
               call.state == TransactionState::pulling) {
      // RFC 8166 4.5.4: the peer takes no RDMA Reads at all, so only this call is hopeless.
      posting_.pop_front();
      send_chunk_error(call);
    } else {
      drop();
    }
  }
}

Expected<void, fabric::Error> ServerConnection::post_next(Transaction& call) {
  const std::size_t next = call.posting.next++;
  switch (call.posting.stretches[call.posting.stretch]) {
    case Stretch::reads: {
      const RemoteRead& read = call.pull.reads[next];
      context_.statistics.pulled_bytes += read.length;
      return endpoint_.rdma_read(*call.sink, read.sink_offset, read.length, read.stag, read.offset,
                                 call.index);
    }
    case Stretch::writes:
      return post_write(call, next);
    case Stretch::send:
      return endpoint_.send(call.plan.parts(), call.index, call.plan.invalidate());
    case Stretch::error:
      break;
  }
  const View message = call.error;
  return endpoint_.send({&message, 1}, call.index);
}

// The storage has a result in pieces. One message for all that fill a segment saves headers,
// completions and short messages.
Expected<void, fabric::Error> ServerConnection::post_write(Transaction& call, std::size_t first) {
  const auto writes = call.plan.writes().subspan(first);
  std::array<View, kMostWriteParts> parts;
  const std::size_t count = joined_writes(writes, std::min(rdma_.write_parts, kMostWriteParts));
  for (std::size_t i = 0; i < count; ++i) {
    parts[i] = writes[i].from;
    context_.statistics.pushed_bytes += parts[i].size();
  }
  call.posting.next = first + count;
  return endpoint_.rdma_write(std::span(parts).first(count), writes[0].stag, writes[0].offset,
                              call.index);
}

void ServerConnection::drop() {
  dropped_ = true;
  endpoint_.abort();
}

void ServerConnection::send_version_error(Transaction& call, const wire::FixedWords& words) {
  wire::Header header;
  header.xid = words.xid;
  // RFC 8166 4.5: the version of the call, not ours.
  header.vers = words.vers;
  header.error = wire::ErrorCode::vers;
  header.vers_low = header.vers_high = wire::kVersion;
  send_error(call, header);
}

void ServerConnection::send_chunk_error(Transaction& call) {
  wire::Header header;
  header.xid = call.header.xid;
  header.vers = wire::kVersion;
  header.error = wire::ErrorCode::chunk;
  send_error(call, header);
}

void ServerConnection::send_error(Transaction& call, const wire::Header& error) {
  ++context_.statistics.errors;
  wire::Header header = error;
  header.credit = context_.options.credits;
  header.proc = wire::Procedure::error;
  call.error.clear();
  wire::encode(header, call.error);
  release_sink(call);
  give_back_receive(call);
  call.state = TransactionState::replying;
  call.posting.clear();
  if (interpose(call, Departure::Kind::error)) return finish(call);
  call.posting.stretches.push_back(Stretch::error);
  start_posting(call);
}

bool ServerConnection::interpose(Transaction& call, Departure::Kind kind) {
  if (!interposed_ || down_) return false;
  const View error = call.error;
  Departure departure{kind, &call.header, call.rpc_call, {&error, 1}, {}, {}, &call.reply};
  if (kind == Departure::Kind::reply) {
    departure.parts = call.plan.parts();
    departure.writes = call.plan.writes();
    departure.invalidate = call.plan.invalidate();
  }
  return context_.options.interposer->on_departure(interposed_, departure);
}

void ServerConnection::on_done(WorkTag tag, fabric::Operation operation) {
  if (tag & kCallbackTag) return on_callback_sent(tag);
  if (interposed_ && (tag & InterposedConnection::kTag)) {
    const Bytes octets = interposed_->take_done(tag);
    if (operation == fabric::Operation::rdma_read)
      context_.options.interposer->on_read(interposed_, tag & ~InterposedConnection::kTag, octets);
    return;
  }
  Transaction& call = *transactions_[tag];
  --posted_;
  --call.posting.outstanding;
  post_some();
  if (call.posting.outstanding > 0 || !call.all_posted()) return;
  call.posting.clear();
  if (call.state == TransactionState::pulling) {
    note_whole_pull();
    return on_pulled(call);
  }
  finish(call);
}

void ServerConnection::on_down(const fabric::CloseReason& reason) {
  down_ = true;
  if (reason.code == fabric::Errc::timed_out) tell_of_limit({reason.code, reason.detail});
  rdma_.unsettled.push_back(id());
  rdma_.pulls.forget(*this);
  context_.held.forget(info_.id);
  callbacks_->close();
  if (reason.denied) remember_failed_calls(*reason.denied);
  if (interposed_) context_.options.interposer->on_down(interposed_, reason);
  for (const auto& call : transactions_) {
    release_sink(*call);
    call->reply.clear();
  }
}

void ServerConnection::remember_failed_calls(const fabric::Denial& denied) {
  const std::vector<CallId> calls = suspects(denied);
  for (const CallId id : calls)
    context_.failed_calls.remember(info_.peer_host, id, calls.size() == 1);
}

std::vector<CallId> ServerConnection::suspects(const fabric::Denial& denied) const {
  const bool reads = denied.operation == fabric::Operation::rdma_read;
  const auto id_of = [&](const Transaction& call) {
    return reads ? CallId::of(call.header.xid, call.payload) : call.pushed;
  };
  if (denied.id) {
    if (*denied.id & (kCallbackTag | InterposedConnection::kTag)) return {};
    return {id_of(*transactions_[*denied.id])};
  }
  if (interposed_ && interposed_->has_used_memory(denied.operation)) return {};
  if (!reads) return {recent_pushes_.begin(), recent_pushes_.end()};
  std::vector<CallId> pulling;
  for (const auto& call : transactions_) {
    if (call->state == TransactionState::pulling) pulling.push_back(id_of(*call));
  }
  return pulling;
}

}  // namespace steertag::peer
