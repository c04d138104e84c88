// The responder on one connection: from an executed call to its last completion.
#include "peer/server/server.h"
#include "peer/server/server_connection.h"
#include "wire/xdr.h"

namespace steertag::peer {

bool ServerConnection::check(const Expected<void, fabric::Error>& posted) {
  if (posted) return true;
  // RFC 8166 4.5.4: what cannot be answered ends the connection.
  if (!down_) endpoint_.abort();
  return false;
}

void ServerConnection::give_back_receive(Transaction& call) {
  if (!call.holds_receive) return;
  call.holds_receive = false;
  call.message = call.payload = {};
  endpoint_.repost(call.receive);
}

void ServerConnection::discard(Transaction& call) {
  ++server_.statistics_.discarded;
  if (deviates(Deviation::receive_not_reposted)) call.holds_receive = false;
  give_back_receive(call);
  finish(call);
}

void ServerConnection::finish(Transaction& call) {
  call.state = TransactionState::idle;
  call.sink.release();
  call.reply.clear();
  idle_.push_back(call.index);
  if (backlog_.empty()) return;
  const Backlog next = backlog_.front();
  backlog_.pop_front();
  Transaction* taken = take_idle();
  taken->receive = next.receive;
  taken->holds_receive = true;
  taken->message = next.message;
  begin(*taken);
}

ReplyTerms ServerConnection::terms(const Transaction& call) {
  const wire::Negotiated& negotiated = endpoint_.negotiated();
  ReplyTerms terms;
  terms.grant = server_.options_.credits;
  terms.threshold_bytes = negotiated.to_client_bytes;
  const bool client_flag = endpoint_.peer() && endpoint_.peer()->remote_invalidation;
  terms.may_invalidate = negotiated.remote_invalidation ||
                         (!client_flag && deviates(Deviation::invalidates_unasked)) ||
                         (client_flag && deviates(Deviation::invalidates_without_own_flag));
  terms.earlier_stag = earlier_stag_;
  for (const auto& other : transactions_) {
    if (other.get() != &call && other->state == TransactionState::pulling)
      terms.other_xid = other->header.xid;
  }
  return terms;
}

void ServerConnection::note_stag(const Transaction& call) {
  if (call.header.write_list.segment_count() > 0 && !call.header.write_list[0].empty()) {
    earlier_stag_ = call.header.write_list[0].front().handle;
  } else if (!call.header.read_list.empty()) {
    earlier_stag_ = call.header.read_list.front().target.handle;
  } else if (!call.header.reply_chunk.empty()) {
    earlier_stag_ = call.header.reply_chunk.front().handle;
  }
}

void ServerConnection::send_reply(Transaction& call) {
  if (!call.plan.build(call.header, call.reply, terms(call))) return send_chunk_error(call);
  note_stag(call);
  ++server_.statistics_.replies;
  // RFC 8166 3.3.1: the client may use the credit as soon as it has the reply.
  give_back_receive(call);
  call.state = TransactionState::replying;
  post_reply(call);
}

void ServerConnection::post_reply(Transaction& call) {
  const auto write_all = [&] {
    for (const RemoteWrite& write : call.plan.writes()) {
      if (!check(endpoint_.rdma_write(write.from, write.stag, write.offset, call.index)))
        return false;
      ++call.outstanding;
      server_.statistics_.pushed_bytes += write.from.size();
    }
    return true;
  };
  const auto send = [&] {
    ++call.outstanding;
    return check(endpoint_.send(call.plan.parts(), call.index, call.plan.invalidate()));
  };
  if (!call.plan.writes().empty()) {
    if (recent_pushes_.size() == kMostSuspects) recent_pushes_.pop_front();
    recent_pushes_.push_back(call.header.xid);
  }
  // RFC 8166 3.5.2: Writes come before the Send that announces them.
  const bool late = deviates(Deviation::writes_after_reply);
  if (!late && !write_all()) return;
  if (!send()) return;
  if (late && !write_all()) return;
  if (deviates(Deviation::reads_after_reply) && call.sink) post_reads(call);
  if (deviates(Deviation::replies_twice) && !send()) return;
  if (deviates(Deviation::reply_then_done)) {
    wire::Header done;
    done.xid = call.header.xid;
    done.credit = server_.options_.credits;
    done.proc = wire::Procedure::done;
    call.error.clear();
    wire::encode(done, call.error);
    send_extra(call, call.error);
  }
}

void ServerConnection::send_extra(Transaction& call, View message) {
  ++call.outstanding;
  check(endpoint_.send({&message, 1}, call.index));
}

void ServerConnection::send_version_error(Transaction& call, const wire::FixedWords& words) {
  wire::Header header;
  header.xid = words.xid;
  // RFC 8166 4.5: the version of the call, not ours.
  header.vers = deviates(Deviation::version_error_own_vers) ? wire::kVersion : words.vers;
  header.error = wire::ErrorCode::vers;
  header.vers_low = header.vers_high = wire::kVersion;
  if (deviates(Deviation::version_range_wrong)) header.vers_low = 2, header.vers_high = 3;
  if (deviates(Deviation::version_range_swapped)) header.vers_low = 1, header.vers_high = 0;
  send_error(call, header);
}

void ServerConnection::send_chunk_error(Transaction& call) {
  wire::Header header;
  header.xid = deviates(Deviation::err_chunk_wrong_xid) ? 0 : call.header.xid;
  header.vers = wire::kVersion;
  header.error = wire::ErrorCode::chunk;
  send_error(call, header);
}

void ServerConnection::send_error(Transaction& call, const wire::Header& error) {
  ++server_.statistics_.errors;
  wire::Header header = error;
  header.credit = server_.options_.credits;
  header.proc = wire::Procedure::error;
  const bool is_chunk = header.error == wire::ErrorCode::chunk;
  if (is_chunk && deviates(Deviation::err_chunk_grants_zero)) header.credit = 0;
  call.error.clear();
  wire::encode(header, call.error);
  constexpr std::size_t kProcAt = 12;
  constexpr std::size_t kCodeAt = 16;
  if (is_chunk && deviates(Deviation::err_chunk_wrong_proc))
    wire::store_u32(call.error.data() + kProcAt, 5);
  if (is_chunk && deviates(Deviation::err_chunk_unknown_code))
    wire::store_u32(call.error.data() + kCodeAt, 3);
  if (is_chunk && deviates(Deviation::err_chunk_trailing_octets))
    call.error.resize(call.error.size() + 8);
  call.sink.release();
  give_back_receive(call);
  call.state = TransactionState::replying;
  send_extra(call, call.error);
}

void ServerConnection::on_done(WorkTag tag, fabric::Operation /*operation*/) {
  Transaction& call = *transactions_[tag];
  if (--call.outstanding > 0) return;
  if (call.state == TransactionState::pulling)
    return execute(call, View(call.sink->bytes()).first(call.pull.size));
  finish(call);
}

void ServerConnection::on_down(const fabric::CloseReason& reason) {
  down_ = true;
  server_.forget_waits(*this);
  remember_failed_calls(reason);
  for (const auto& call : transactions_) {
    call->sink.release();
    call->reply.clear();
  }
}

void ServerConnection::remember_failed_calls(const fabric::CloseReason& reason) {
  if (!reason.terminate || !reason.terminate_from_peer) return;
  constexpr std::uint8_t kRdmapLayer = 0;
  constexpr std::uint8_t kDdpLayer = 1;
  constexpr std::uint8_t kProtectionError = 1;  // RFC 5040 4.8; of tagged buffers in the DDP layer
  if (reason.terminate->type != kProtectionError) return;
  std::vector<std::uint32_t> suspects;
  if (reason.terminate->layer == kRdmapLayer) {
    for (const auto& call : transactions_) {
      if (call->state == TransactionState::pulling) suspects.push_back(call->header.xid);
    }
  } else if (reason.terminate->layer == kDdpLayer) {
    suspects.assign(recent_pushes_.begin(), recent_pushes_.end());
  }
  for (const std::uint32_t xid : suspects)
    server_.remember_failed(peer_host_, xid, suspects.size() == 1);
}

}  // namespace steertag::peer
