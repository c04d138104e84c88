// The backchannel of a client's session (RFC 8881 2.10.3.1).
// The connection that serves it, and what the server requests over it.
#include <algorithm>

#include "client/v4/client_session.h"

namespace steertag::peer {
namespace {

using nfs4::Opnum;
using nfs4::Status;

constexpr std::uint32_t kPathDown =
    nfs4::SEQ4_STATUS_CB_PATH_DOWN | nfs4::SEQ4_STATUS_CB_PATH_DOWN_SESSION;

/// RFC 8881 12.7.2: the layouts are among what was revoked, or may be.
constexpr std::uint32_t kRevoked = nfs4::SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED |
                                   nfs4::SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED |
                                   nfs4::SEQ4_STATUS_ADMIN_STATE_REVOKED;

bool is_delay(const FileError& error) {
  return error.code == FileErrc::refused &&
         static_cast<Status>(error.status) == Status::NFS4ERR_DELAY;
}

}  // namespace

CallbackActions ClientSession::callback_actions() {
  CallbackActions actions;
  actions.recall = [this](const nfs4::CbRecallArgs& args) {
    return options_.recall ? options_.recall(args) : Status::NFS4ERR_BAD_STATEID;
  };
  actions.recall_layout = [this](const nfs4::CbLayoutrecallArgs& args) {
    return layout_events_ ? layout_events_->recall(args) : Status::NFS4ERR_NOTSUPP;
  };
  actions.notify_devices = [this](const nfs4::CbNotifyDeviceidArgs& args) {
    if (!layout_events_) return Status::NFS4ERR_NOTSUPP;
    return layout_events_->devices_changed(args) ? Status::NFS4_OK : Status::NFS4ERR_BADXDR;
  };
  actions.recall_slot = [this](std::uint32_t highest_slot) { recall_slots(highest_slot); };
  actions.outstanding = [this](const nfs4::ReferringCall& call) {
    return slots_.is_under_way(call.rc_slotid, call.rc_sequenceid);
  };
  return actions;
}

// --- the connection

nfs4::ChannelAttrs ClientSession::wanted_backchannel() const {
  const auto limits = schedule_.transport().reverse_limits();
  // Servers want values also of a channel that no connection becomes part of.
  if (!limits) return {0, 4096, 4096, 0, 2, 1, {}};
  const auto call = static_cast<std::uint32_t>(limits->call_bytes);
  const auto reply = static_cast<std::uint32_t>(limits->reply_bytes);
  return {0, call, reply, reply, kMostCallbackOperations, kClientBackSlots, {}};
}

void ClientSession::backchannel_made(const nfs4::CreateSessionOk& made) {
  has_backchannel_ = (made.csr_flags & nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN) != 0;
  back_connection_ = schedule_.transport().connection_number();
  path_down_ = binding_ = destroying_ = slots_recalled_ = false;
  vain_binds_ = 0;
  bind_delay_ = {};
  callbacks_.reset(session_id_,
                   std::min(made.csr_back_chan_attrs.ca_maxrequests, kClientBackSlots));
}

void ClientSession::keep_backchannel() {
  if (binding_) return;
  // RFC 8881 2.10.13.1.2: who comes back without its last connection has to bind the new one.
  const bool lost =
      has_backchannel_ && schedule_.transport().connection_number() != back_connection_;
  if (lost || path_down_) bind();
}

// RFC 8881 18.34.3: the only operation, on the connection that is bound. If that is lost before the
// reply, the call is made on the next one, and binds that.
void ClientSession::bind() {
  binding_ = true;
  path_down_ = false;
  nfs4::BindConnToSessionArgs args;
  args.bctsa_sessid = session_id_;
  args.bctsa_dir = nfs4::ChannelDirFromClient::CDFC4_FORE_OR_BOTH;
  ClientCompound call;
  call.add(Opnum::OP_BIND_CONN_TO_SESSION, args);
  schedule_.call(call.request(options_.identity, nullptr),
                 [this, session = sessions_made_](Expected<CallReply, CallError> outcome) {
                   if (session == sessions_made_ && stage_ == Stage::ready)
                     take_bind(std::move(outcome));
                   pump();
                 });
}

void ClientSession::take_bind(Expected<CallReply, CallError> outcome) {
  binding_ = false;
  ++binds_;
  // Also after a failure: the next connection is the next try.
  back_connection_ = schedule_.transport().connection_number();
  if (!outcome) return;
  auto reply = CompoundReply::of(*outcome);
  if (!reply) return bind_refused(reply.error());
  const auto result = reply->next<nfs4::BindConnToSessionResult>(Opnum::OP_BIND_CONN_TO_SESSION);
  if (!result) return bind_refused(result.error());
  bind_delay_ = {};
  has_backchannel_ = result->resok4.bctsr_dir != nfs4::ChannelDirFromServer::CDFS4_FORE;
  if (!options_.policy.callbacks.keeps_slots) callbacks_.reset(session_id_, kClientBackSlots);
}

void ClientSession::bind_refused(const FileError& error) {
  const auto pause = is_delay(error) ? bind_delay_.next(schedule_.now()) : std::nullopt;
  if (!pause) return leave();
  schedule_.later(*pause, [this, session = sessions_made_] {
    if (session != sessions_made_) return;
    path_down_ = true;
    pump();
  });
}

void ClientSession::heed(std::uint32_t flags, std::uint64_t binds) {
  if ((flags & kRevoked) != 0 && layout_events_) layout_events_->forgotten();
  // RFC 8881 18.46.3: nothing but another session helps.
  if ((flags & nfs4::SEQ4_STATUS_BACKCHANNEL_FAULT) != 0 && stage_ == Stage::ready) return leave();
  if (!can_be_called() || binding_ || binds != binds_ || stage_ != Stage::ready) return;
  if ((flags & kPathDown) == 0) {
    vain_binds_ = 0;
    return;
  }
  if (path_down_) return;
  if (++vain_binds_ > kMostVainBinds) return leave();
  path_down_ = true;
}

// --- the end of a session that the server cannot call

void ClientSession::leave() {
  stage_ = Stage::leaving;
}

std::optional<std::uint32_t> ClientSession::destroy_slot() {
  return options_.policy.destroys_in_session ? slots_.take() : std::nullopt;
}

Request ClientSession::destroy_request(std::optional<std::uint32_t> slot) const {
  ClientCompound call;
  call.add(Opnum::OP_DESTROY_SESSION, nfs4::DestroySessionArgs{session_id_});
  if (!slot) return call.request(options_.identity, nullptr);
  const nfs4::SequenceArgs sequence = sequence_in(*slot);
  return call.request(options_.identity, &sequence);
}

void ClientSession::destroy_left() {
  destroying_ = true;
  // Whatever comes of it: a session that is not destroyed ends with its client's lease.
  schedule_.call(destroy_request(destroy_slot()),
                 [this, session = sessions_made_](const Expected<CallReply, CallError>&) {
                   if (session == sessions_made_ && stage_ == Stage::leaving) stage_ = Stage::none;
                   pump();
                 });
}

// --- slots that the server wants back

void ClientSession::recall_slots(std::uint32_t highest_slot) {
  if (highest_slot >= slots_.target()) return;
  slots_.recall(highest_slot);
  ++recalls_;
  slots_recalled_ = true;
  schedule_.later(std::chrono::milliseconds{0}, [this] { pump(); });
}

void ClientSession::tell_slots() {
  if (!slots_recalled_ || slots_.highest_in_use() > slots_.target()) return;
  slots_recalled_ = false;
  if (!waiting_.empty()) return;
  auto sequence = std::make_shared<Pending>();
  sequence->done = [](const Expected<CompoundReply, FileError>&) {};
  waiting_.push_back(std::move(sequence));
}

}  // namespace steertag::peer
