// The life of a session, and the calls in it.
#include "client/v4/client_session.h"

#include <algorithm>
#include <utility>

#include "support/roundup.h"

namespace steertag::peer {
namespace {

using nfs4::Opnum;
using nfs4::Status;

Status status_of(const FileError& error) {
  return error.code == FileErrc::refused ? static_cast<Status>(error.status) : Status::NFS4_OK;
}

bool is_delay(Status status) {
  return status == Status::NFS4ERR_DELAY || status == Status::NFS4ERR_GRACE;
}

/// RFC 8881 18.36.3: the server may lower these values, but must not raise them.
nfs4::ChannelAttrs lower_of(nfs4::ChannelAttrs offered, const nfs4::ChannelAttrs& wanted) {
  const auto lower = [](std::uint32_t& value, std::uint32_t most) {
    value = std::min(value, most);
  };
  lower(offered.ca_maxrequestsize, wanted.ca_maxrequestsize);
  lower(offered.ca_maxresponsesize, wanted.ca_maxresponsesize);
  lower(offered.ca_maxresponsesize_cached, wanted.ca_maxresponsesize_cached);
  return offered;
}

/// Statuses of SEQUENCE after which only another session helps: it is gone, or the two sides do not
/// agree about a slot.
bool ends_session(Status status) {
  switch (status) {
    case Status::NFS4ERR_BADSESSION:
    case Status::NFS4ERR_DEADSESSION:
    case Status::NFS4ERR_BADSLOT:
    case Status::NFS4ERR_BAD_HIGH_SLOT:
    case Status::NFS4ERR_SEQ_MISORDERED:
    case Status::NFS4ERR_SEQ_FALSE_RETRY:
    case Status::NFS4ERR_CONN_NOT_BOUND_TO_SESSION:
      return true;
    default:
      return false;
  }
}

}  // namespace

ClientSession::ClientSession(CallSchedule& schedule, SessionOptions options)
    : schedule_(schedule),
      options_(std::move(options)),
      callbacks_(callback_actions(), options_.policy.callbacks) {
  if (!options_.is_for_data()) schedule_.transport().serve_reverse(&callbacks_);
}

ClientSession::~ClientSession() {
  if (!options_.is_for_data()) schedule_.transport().serve_reverse(nullptr);
}

// --- calls

void ClientSession::call(ClientCompound call, CompoundDone done) {
  auto pending = std::make_shared<Pending>();
  pending->call = std::move(call);
  pending->done = std::move(done);
  waiting_.push_back(std::move(pending));
  pump();
}

void ClientSession::pump() {
  if (!waiting_.empty() && options_.may_call && !options_.may_call()) return refuse_waiting();
  // Also by a target of the server that came after the loss.
  if (stage_ == Stage::ready && slots_.exhausted()) stage_ = Stage::none;
  if (stage_ == Stage::none && !waiting_.empty()) make();
  if (stage_ == Stage::leaving && !destroying_ && slots_.idle()) destroy_left();
  if (stage_ == Stage::ready) keep_backchannel();
  if (stage_ == Stage::ready) tell_slots();
  if (stage_ == Stage::completing && completing_) {
    if (const auto slot = slots_.take()) send(std::move(completing_), *slot);
  }
  while (stage_ == Stage::ready && !waiting_.empty()) {
    const auto slot = slots_.take();
    if (!slot) return;
    PendingRef pending = std::move(waiting_.front());
    waiting_.pop_front();
    send(std::move(pending), *slot);
  }
}

nfs4::SequenceArgs ClientSession::sequence_in(std::uint32_t slot) const {
  nfs4::SequenceArgs sequence;
  sequence.sa_sessionid = session_id_;
  sequence.sa_sequenceid = slots_.sequence_id(slot);
  sequence.sa_slotid = slot;
  sequence.sa_highest_slotid = slots_.highest_in_use();
  return sequence;
}

void ClientSession::renew_lease() {
  if (stage_ != Stage::ready || schedule_.now() - renewed_ < renewal_) return;
  renewed_ = schedule_.now();
  call({}, [](const Expected<CompoundReply, FileError>&) {});
}

void ClientSession::refuse_waiting() {
  if (std::exchange(refusing_, true)) return;
  schedule_.later(std::chrono::milliseconds{0}, [this] {
    refusing_ = false;
    if (options_.may_call()) return pump();
    for (const PendingRef& pending : std::exchange(waiting_, {}))
      pending->done(tl::unexpected(FileError{FileErrc::lease_in_doubt, "COMPOUND", 0, {}}));
  });
}

void ClientSession::send(PendingRef pending, std::uint32_t slot) {
  renewed_ = schedule_.now();
  nfs4::SequenceArgs sequence = sequence_in(slot);
  sequence.sa_cachethis = pending->call.keeps_reply();
  Request request = pending->call.request(options_.identity, &sequence);
  // RFC 8267 6.2.2: no reply of the session is larger, whatever the operations would allow.
  if (request.reply.eligible == 0)
    request.reply.payload =
        std::min<std::size_t>(request.reply.payload, channel_.ca_maxresponsesize);
  if (is_too_big(request)) {
    slots_.give_back(slot, false);
    return pending->done(tl::unexpected(refused(Status::NFS4ERR_REQ_TOO_BIG, "COMPOUND")));
  }
  const Moment sent{sessions_made_, binds_, recalls_, schedule_.now()};
  schedule_.call(std::move(request),
                 [this, pending, slot, sent](Expected<CallReply, CallError> outcome) {
                   take_reply(pending, slot, sent, std::move(outcome));
                   pump();
                 });
}

// RFC 8881 18.36.3: without the framing of the transport, whatever carries the item.
bool ClientSession::is_too_big(const Request& request) const {
  if (!options_.policy.heeds_later_sizes) return false;
  const std::size_t item = request.has_item ? roundup4(request.item.size()) : 0;
  return request.stream.size() + item > channel_.ca_maxrequestsize;
}

void ClientSession::take_reply(const PendingRef& pending, std::uint32_t slot, const Moment& sent,
                               Expected<CallReply, CallError> outcome) {
  const std::uint64_t session = sent.session;
  const bool present = session == sessions_made_;
  if (!outcome) {
    if (present && options_.policy.leaves_unanswered) slots_.lose(slot);
    if (present && !options_.policy.leaves_unanswered) slots_.give_back(slot, false);
    return pending->done(tl::unexpected(failed(outcome.error(), "COMPOUND")));
  }
  auto reply = CompoundReply::of(*outcome);
  if (!reply) return take_refusal(pending, slot, session, reply.error());
  const auto sequence = reply->next<nfs4::SequenceResult>(Opnum::OP_SEQUENCE);
  if (!sequence) return take_refusal(pending, slot, session, sequence.error());
  if (present && !answers(sequence->resok4, slot))
    return take_refusal(
        pending, slot, session,
        {FileErrc::bad_results, "SEQUENCE: the reply is for another session, slot or id", 0, {}});
  if (present) {
    slots_.give_back(slot, true);
    renewed_for_sure_ = std::max(renewed_for_sure_, sent.at);
    // What the server wished before it recalled slots does not undo that.
    if (sent.recalls == recalls_) slots_.set_target(sequence->resok4.sr_target_highest_slotid);
    heed(sequence->resok4.sr_status_flags, sent.binds);
  }
  take_results(pending, std::move(*reply));
}

bool ClientSession::answers(const nfs4::SequenceOk& reply, std::uint32_t slot) const {
  return reply.sr_sessionid == session_id_ && reply.sr_slotid == slot &&
         reply.sr_sequenceid == slots_.sequence_id(slot);
}

void ClientSession::take_refusal(const PendingRef& pending, std::uint32_t slot,
                                 std::uint64_t session, const FileError& error) {
  const Status status = status_of(error);
  const bool uncached = status == Status::NFS4ERR_RETRY_UNCACHED_REP;
  if (session == sessions_made_) {
    if (error.code == FileErrc::bad_results) {
      slots_.lose(slot);  // it is unknown whether its sequence id is used up
    } else {
      const bool counts = !options_.policy.repeats_refused && is_delay(status);
      slots_.give_back(slot, uncached || counts);
    }
  }
  if (status == Status::NFS4ERR_DELAY || uncached) return retry_later(pending, error);
  if (ends_session(status)) return renew(pending, session, error);
  pending->done(tl::unexpected(error));
}

void ClientSession::take_results(const PendingRef& pending, CompoundReply reply) {
  const Status status = reply.status();
  // RFC 8881 2.10.6.1.3: it was executed, but its reply was not to be kept; such calls may be made
  // again.
  if (is_delay(status) || status == Status::NFS4ERR_RETRY_UNCACHED_REP)
    return retry_later(pending, refused(status, "COMPOUND"));
  pending->done(std::move(reply));
}

void ClientSession::retry_later(const PendingRef& pending, const FileError& error) {
  const auto pause = pending->delay.next(schedule_.now());
  if (!pause) return pending->done(tl::unexpected(error));
  schedule_.later(*pause, [this, pending] {
    queue_again(pending);
    pump();
  });
}

void ClientSession::queue_again(const PendingRef& pending) {
  if (pending->first) {
    completing_ = pending;
  } else {
    waiting_.push_front(pending);
  }
}

void ClientSession::renew(const PendingRef& pending, std::uint64_t session,
                          const FileError& error) {
  const bool renews = !options_.is_for_data() || options_.policy.data_servers.renews_sessions;
  if (session == sessions_made_ && stage_ != Stage::making && renews) {
    stage_ = Stage::none;
    completing_ = nullptr;
  }
  if (pending->first || ++pending->sessions >= kMostSessionsOfCall)
    return pending->done(tl::unexpected(FileError{FileErrc::state_lost, error.message(), 0, {}}));
  queue_again(pending);
}

// --- making

void ClientSession::make() {
  stage_ = Stage::making;
  exchanged_ = false;
  make_delay_ = {};
  if (has_client_id_) return create_session();
  exchange_id();
}

template <class Take>
void ClientSession::call_alone(ClientCompound call, Take take) {
  schedule_.call(call.request(options_.identity, nullptr),
                 [this, take](Expected<CallReply, CallError> outcome) {
                   if (!outcome) return fail_all(failed(outcome.error(), "COMPOUND"));
                   auto reply = CompoundReply::of(*outcome);
                   if (!reply) return fail_all(reply.error());
                   take(*reply);
                   pump();
                 });
}

void ClientSession::on_make_error(const FileError& error, void (ClientSession::*again)()) {
  const auto pause = is_delay(status_of(error)) ? make_delay_.next(schedule_.now()) : std::nullopt;
  if (!pause) return fail_all(error);
  schedule_.later(*pause, [this, again] { (this->*again)(); });
}

void ClientSession::exchange_id() {
  exchanged_ = true;
  nfs4::ExchangeIdArgs args;
  args.eia_clientowner.co_verifier = options_.verifier;
  args.eia_clientowner.co_ownerid = std::as_bytes(std::span(options_.owner));
  args.eia_flags = options_.roles;
  ClientCompound call;
  call.add(Opnum::OP_EXCHANGE_ID, args);
  call_alone(std::move(call), [this](CompoundReply& reply) {
    const auto result = reply.next<nfs4::ExchangeIdResult>(Opnum::OP_EXCHANGE_ID);
    if (!result) return on_make_error(result.error(), &ClientSession::exchange_id);
    server_roles_ = result->resok4.eir_flags & nfs4::EXCHGID4_FLAG_MASK_PNFS;
    const bool is_data_server = has_roles(nfs4::EXCHGID4_FLAG_USE_PNFS_DS);
    if (options_.is_for_data() && !is_data_server && options_.policy.data_servers.checks_role)
      return fail_all({FileErrc::bad_results, "EXCHANGE_ID: this is no data server", 0, {}});
    const bool is_other = client_id_ != 0 && client_id_ != result->resok4.eir_clientid;
    if (options_.policy.completes_again) reclaimed_ = reclaimed_ && has_client_id_ && !is_other;
    has_client_id_ = true;
    client_id_ = result->resok4.eir_clientid;
    if (is_other && layout_events_) layout_events_->forgotten();
    create_sequence_ = result->resok4.eir_sequenceid;
    create_session();
  });
}

nfs4::ChannelAttrs ClientSession::wanted_channel() const {
  nfs4::ChannelAttrs wanted;
  wanted.ca_maxrequestsize = options_.transfer_bytes + kCompoundOverhead;
  wanted.ca_maxresponsesize = options_.transfer_bytes + kCompoundOverhead;
  wanted.ca_maxresponsesize_cached = kMostKeptReply;
  wanted.ca_maxoperations = kMostClientOperations;
  const std::uint32_t calls = schedule_.transport().limits().calls;
  wanted.ca_maxrequests = options_.slots != 0 ? std::min(options_.slots, kMostWishedSlots)
                                              : std::clamp(calls, 1U, kMostClientSlots);
  return wanted;
}

void ClientSession::create_session() {
  nfs4::CreateSessionArgs args;
  args.csa_clientid = client_id_;
  args.csa_sequence = create_sequence_;
  args.csa_fore_chan_attrs = wanted_channel();
  args.csa_back_chan_attrs = wanted_backchannel();
  if (can_be_called()) {
    args.csa_flags |= nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN;
    args.csa_cb_program = kCallbackProgram;
  }
  args.csa_sec_parms.emplace_back();  // AUTH_NONE
  ClientCompound call;
  call.add(Opnum::OP_CREATE_SESSION, args);
  call_alone(std::move(call), [this](CompoundReply& reply) {
    const auto result = reply.next<nfs4::CreateSessionResult>(Opnum::OP_CREATE_SESSION);
    if (!result) {
      const Status status = status_of(result.error());
      const bool forgotten =
          status == Status::NFS4ERR_STALE_CLIENTID || status == Status::NFS4ERR_SEQ_MISORDERED;
      if (forgotten && !exchanged_) return exchange_id();
      if (forgotten) has_client_id_ = false;
      return on_make_error(result.error(), &ClientSession::create_session);
    }
    const nfs4::CreateSessionOk& made = result->resok4;
    channel_ = lower_of(made.csr_fore_chan_attrs, wanted_channel());
    if (channel_.ca_maxrequests == 0 || channel_.ca_maxresponsesize <= kCompoundOverhead ||
        channel_.ca_maxrequestsize <= kCompoundOverhead)
      return fail_all({FileErrc::bad_results, "CREATE_SESSION: a channel without room", 0, {}});
    if (options_.policy.numbers_sessions) ++create_sequence_;
    ++sessions_made_;
    session_id_ = made.csr_sessionid;
    const std::uint32_t wanted = wanted_channel().ca_maxrequests;
    const bool heeds = !options_.is_for_data() || options_.policy.data_servers.heeds_slots;
    slots_.reset(heeds ? std::min(channel_.ca_maxrequests, wanted) : wanted);
    backchannel_made(made);
    if (reclaimed_ || options_.is_for_data()) {
      stage_ = Stage::ready;
    } else {
      reclaim_complete();
    }
  });
}

// RFC 8881 18.51.3: before the first open, also by a client that has nothing to reclaim.
void ClientSession::reclaim_complete() {
  stage_ = Stage::completing;
  completing_ = std::make_shared<Pending>();
  completing_->first = true;
  completing_->call.add(Opnum::OP_RECLAIM_COMPLETE, nfs4::ReclaimCompleteArgs{});
  completing_->call.keep_reply();
  completing_->done = [this](Expected<CompoundReply, FileError> reply) {
    if (!reply) return fail_all(reply.error());
    const auto result = reply->next<nfs4::ReclaimCompleteResult>(Opnum::OP_RECLAIM_COMPLETE);
    if (!result && status_of(result.error()) != Status::NFS4ERR_COMPLETE_ALREADY)
      return fail_all(result.error());
    reclaimed_ = true;
    stage_ = Stage::ready;
  };
}

void ClientSession::fail_all(const FileError& error) {
  stage_ = Stage::none;
  completing_ = nullptr;
  const std::deque<PendingRef> failed = std::move(waiting_);
  waiting_.clear();
  for (const PendingRef& pending : failed) pending->done(tl::unexpected(error));
}

Expected<void, FileError> ClientSession::destroyed(const Expected<CallReply, CallError>& reply,
                                                   Opnum number, bool in_session) const {
  if (!reply) return tl::unexpected(failed(reply.error(), rpc::name(number)));
  auto results = CompoundReply::of(*reply);
  if (!results) return tl::unexpected(std::move(results.error()));
  auto result = in_session ? results->skip(Opnum::OP_SEQUENCE) : Expected<void, FileError>{};
  if (result) result = results->skip(number);
  // RFC 8881 18.37.3: who makes the call again may find that the session is gone.
  if (!result && status_of(result.error()) == Status::NFS4ERR_BADSESSION) return {};
  return result;
}

Expected<void, FileError> ClientSession::end() {
  if (stage_ != Stage::ready) return {};
  stage_ = Stage::making;  // nothing else may start
  std::optional<Expected<void, FileError>> outcome;
  const auto destroy = [&](Opnum number, Request request, bool in_session) {
    outcome.reset();
    schedule_.call(std::move(request), [&](const Expected<CallReply, CallError>& reply) {
      outcome = destroyed(reply, number, in_session);
    });
    schedule_.run_until([&] { return outcome.has_value(); });
  };
  const auto slot = destroy_slot();
  destroy(Opnum::OP_DESTROY_SESSION, destroy_request(slot), slot.has_value());
  ClientCompound client;
  client.add(Opnum::OP_DESTROY_CLIENTID, nfs4::DestroyClientidArgs{client_id_});
  if (*outcome)
    destroy(Opnum::OP_DESTROY_CLIENTID, client.request(options_.identity, nullptr), false);
  stage_ = Stage::none;
  has_client_id_ = reclaimed_ = false;
  return std::move(*outcome);
}

}  // namespace steertag::peer
