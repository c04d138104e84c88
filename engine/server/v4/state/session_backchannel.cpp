// Callbacks of a session.
#include "server/v4/state/session_backchannel.h"

#include <algorithm>

#include "nfs/v4/compound.h"
#include "rpc/message.h"
#include "server/v4/state/bulk_recalls.h"
#include "server/v4/state/recall_message.h"

namespace steertag::peer {
namespace {

// The RPC header of a reply, CB_COMPOUND4res with our empty tag, and the two results.
constexpr std::size_t kRecallReplyBytes = 24 + 12 + (8 + nfs4::kSessionIdOctets + 16) + 8;

/// The backchannel of the connection that was bound last and is up. A connection that is down
/// accepts no call, and completes none once it is destroyed.
std::shared_ptr<Backchannel> backchannel_of(const Session& session) {
  for (auto at = session.bindings.rbegin(); at != session.bindings.rend(); ++at) {
    if (!at->back) continue;
    auto backchannel = at->backchannel.lock();
    if (backchannel && backchannel->largest_call() > 0) return backchannel;
  }
  return nullptr;
}

/// Without a slot there is no CB_SEQUENCE, however well CB_NULL was answered.
bool is_up(const Session& session) {
  return session.back_state == BackState::up && !session.back_slots.empty() &&
         backchannel_of(session);
}

/// Whether the client accepts a recall: RFC 8881 18.36.3 lets no callback be larger than it agreed
/// to, or have more operations. Recalls of one kind differ by their referring call alone.
bool takes_recalls(const Session& session, nfs4::CbOpnum callback) {
  return !session.back_slots.empty() && session.back.ca_maxoperations >= kRecallOperations &&
         session.back.ca_maxresponsesize >= kRecallReplyBytes &&
         session.back.ca_maxrequestsize >= most_recall_octets(session, callback);
}

/// Statuses of a CB_COMPOUND's two operations.
struct RecallReply {
  nfs4::Status sequence = nfs4::Status::NFS4ERR_BADXDR;
  nfs4::Status recall = nfs4::Status::NFS4ERR_BADXDR;
};

RecallReply read_recall_reply(View message, const Session& session, std::uint32_t slot) {
  RecallReply read;
  wire::Reader reader(message);
  rpc::ReplyHeader header;
  header.decode(reader);
  if (!reader.ok() || !header.success()) return read;
  nfs4::CompoundResult compound;
  compound.decode(reader);
  nfs4::OperationReader<nfs4::CbOpnum> operations(reader, "resarray");
  if (operations.next() != nfs4::CbOpnum::OP_CB_SEQUENCE) return read;
  nfs4::CbSequenceResult sequence;
  sequence.decode(reader);
  if (!reader.ok()) return read;
  const bool matches = sequence.resok4.csr_sessionid == session.id &&
                       sequence.resok4.csr_slotid == slot &&
                       sequence.resok4.csr_sequenceid == session.back_slots[slot].sequence + 1;
  if (sequence.status == nfs4::Status::NFS4_OK && !matches) return read;
  read.sequence = sequence.status;
  if (operations.next() != session.back_slots[slot].callback) return read;
  nfs4::Result<nfs4::Void> recall;
  recall.decode(reader);
  if (reader.ok()) read.recall = recall.status;
  return read;
}

void recall_answered(StateTables& tables, RecallableState& state, nfs4::Status status) {
  // RFC 8881 12.5.5.1: the client has nothing to return.
  if (state.callback == nfs4::CbOpnum::OP_CB_LAYOUTRECALL &&
      status == nfs4::Status::NFS4ERR_NOMATCHING_LAYOUT)
    return state.file ? tables.remove_layout(static_cast<LayoutState&>(state))
                      : end_bulk_recall(tables, *state.client);
  // Nothing comes back behind a notice: only what may be repeated keeps it.
  const bool is_notice = state.callback == nfs4::CbOpnum::OP_CB_NOTIFY_DEVICEID;
  if (is_notice && status != nfs4::Status::NFS4ERR_DELAY) {
    state.client->notices.erase(state.number);
    return;
  }
  state.calling = false;
  state.next_try = tables.now() + kRecallPause;
  // NFS4ERR_BAD_STATEID and BADHANDLE may come from a recall that overtook the OPEN's reply (RFC
  // 8881 2.10.6.3). It is tried again, as any other error is. Only the lease ends that.
  state.recall_done = status == nfs4::Status::NFS4_OK || state.tries >= kMostRecallTries;
}

/// What a callback needs to know when its reply comes, or does not.
struct Sent {
  std::uint32_t slot = 0;
  std::uint64_t probe = 0;  // the session's last one when it was sent
  std::weak_ptr<Backchannel> backchannel;

  /// The connection is gone, as opposed to: its client says nothing.
  bool is_cut() const {
    const auto taken = backchannel.lock();
    return !taken || taken->largest_call() == 0;
  }
};

void callback_done(StateTables& tables, Session& session, const Sent& sent,
                   const Expected<View, net::Error>& reply);

void send(StateTables& tables, Session& session, std::uint32_t number,
          const std::shared_ptr<Backchannel>& backchannel) {
  BackSlot& slot = session.back_slots[number];
  slot.calling = true;
  if (RecallableState* state = StateTables::find_recallable(*session.client, slot.recalled))
    state->needs_other_session = false;
  backchannel->call(slot.message,
                    [&tables, &session, sent = Sent{number, session.probe, backchannel},
                     alive = session.alive](const auto& reply) {
                      if (*alive) callback_done(tables, session, sent, reply);
                    });
}

/// The session cannot be reached for now: what it has not finished is recalled over any other
/// session that the client has.
void reroute_recalls(StateTables& tables, Session& session) {
  session.back_state = BackState::down;
  for (const BackSlot& slot : session.back_slots) {
    if (slot.message.empty() || slot.calling) continue;
    RecallableState* state = StateTables::find_recallable(*session.client, slot.recalled);
    if (!state || state->recall_done) continue;
    state->needs_other_session = true;
    send_recall(tables, *state);
  }
}

/// It is unknown whether the callback arrived. Its slot keeps it for the session's next connection
/// (RFC 8881 2.10.6.2), which may be there already.
void callback_lost(StateTables& tables, Session& session, const Sent& sent) {
  if (session.back_state == BackState::probing) return;  // its end decides
  const auto backchannel = backchannel_of(session);
  if (session.probe != sent.probe && session.back_state == BackState::up && backchannel)
    return send(tables, session, sent.slot, backchannel);
  // A client that is silent may be silent on all connections; of those that are cut each is one
  // less.
  if (session.probe == sent.probe && backchannel && sent.is_cut())
    return probe_backchannel(tables, session);
  reroute_recalls(tables, session);
}

/// A slot is free: the recall of this client that has waited longest for one has its turn. With a
/// pause for each, a burst of them would not be over when the first are overdue.
void send_next_recall(StateTables& tables, Client& client) {
  for (const auto& [id, number] : tables.recalls) {
    if (id != client.id) continue;
    RecallableState* state = StateTables::find_recallable(client, number);
    if (!state || state->tries > 0) continue;
    send_recall(tables, *state);
    return;
  }
}

void callback_done(StateTables& tables, Session& session, const Sent& sent,
                   const Expected<View, net::Error>& reply) {
  BackSlot& slot = session.back_slots[sent.slot];
  slot.calling = false;
  RecallableState* state = StateTables::find_recallable(*session.client, slot.recalled);
  if (!reply) return callback_lost(tables, session, sent);
  const RecallReply read = read_recall_reply(*reply, session, sent.slot);
  nfs4::Status status = read.recall;
  if (read.sequence == nfs4::Status::NFS4_OK) {
    ++slot.sequence;
  } else if (read.sequence == nfs4::Status::NFS4ERR_DELAY) {
    status = nfs4::Status::NFS4ERR_DELAY;  // the slot has not moved (RFC 8881 20.9.3)
  } else {
    session.fault = true;
    session.back_state = BackState::down;
  }
  slot.message.clear();
  slot.recalled = 0;
  if (state) recall_answered(tables, *state, status);
  send_next_recall(tables, *session.client);
}

void probe_done(StateTables& tables, Session& session, const Sent& sent,
                const Expected<View, net::Error>& reply) {
  if (session.probe != sent.probe) return;  // another connection has been bound since
  if (!reply && sent.is_cut() && backchannel_of(session)) return probe_backchannel(tables, session);
  rpc::ReplyHeader header;
  if (reply) {
    wire::Reader reader(*reply);
    header.decode(reader);
    if (!reader.ok()) header.accept_status = rpc::AcceptStatus::SYSTEM_ERR;
  }
  const auto backchannel = backchannel_of(session);
  if (!reply || !header.success() || !backchannel) return reroute_recalls(tables, session);
  session.back_state = BackState::up;
  for (std::uint32_t number = 0; number < session.back_slots.size(); ++number) {
    const BackSlot& slot = session.back_slots[number];
    if (!slot.calling && !slot.message.empty()) send(tables, session, number, backchannel);
  }
}

}  // namespace

bool take_credential(Session& session, std::span<const nfs4::CallbackSecParms> parms) {
  for (const nfs4::CallbackSecParms& each : parms) {
    if (each.cb_secflavor == nfs4::CallbackFlavor::RPCSEC_GSS) continue;
    const bool sys = each.cb_secflavor == nfs4::CallbackFlavor::AUTH_SYS;
    session.credential_flavor = sys ? rpc::AuthFlavor::AUTH_SYS : rpc::AuthFlavor::AUTH_NONE;
    session.credential = sys ? rpc::encode_auth_sys(each.cbsp_sys_cred) : Bytes{};
    return true;
  }
  return false;
}

void open_backchannel(StateTables& tables, Session& session, const ConnectionInfo& info) {
  for (Binding& binding : session.bindings) {
    if (binding.connection != info.id) continue;
    binding.back = true;
    binding.backchannel = info.backchannel;
  }
  probe_backchannel(tables, session);
}

void probe_backchannel(StateTables& tables, Session& session) {
  ++session.probe;
  const auto backchannel = backchannel_of(session);
  session.fault = false;
  if (!backchannel || !session.callable) {
    session.back_state = BackState::down;
    return;
  }
  session.back_state = BackState::probing;
  backchannel->call(callback_header(session, nfs4::CB_NULL),
                    [&tables, &session, sent = Sent{0, session.probe, backchannel},
                     alive = session.alive](const auto& reply) {
                      if (*alive) probe_done(tables, session, sent, reply);
                    });
}

bool has_backchannel(StateTables& tables, const Client& client, nfs4::CbOpnum callback) {
  return std::ranges::any_of(client.sessions, [&](const nfs4::SessionId& id) {
    const Session& session = *tables.find_session(id);
    return is_up(session) && takes_recalls(session, callback);
  });
}

std::uint32_t backchannel_flags(StateTables& tables, const Session& session) {
  bool asked = false;
  bool works = false;
  for (const nfs4::SessionId& id : session.client->sessions) {
    const Session& each = *tables.find_session(id);
    asked |= each.back_state != BackState::none && each.callable;
    works |= is_up(each) || (each.back_state == BackState::probing && backchannel_of(each));
  }
  std::uint32_t flags = 0;
  if (asked && !works) flags |= nfs4::SEQ4_STATUS_CB_PATH_DOWN;
  const bool unanswered = std::ranges::any_of(
      session.back_slots, [](const BackSlot& slot) { return !slot.message.empty(); });
  if (unanswered && !backchannel_of(session)) flags |= nfs4::SEQ4_STATUS_CB_PATH_DOWN_SESSION;
  if (session.fault) flags |= nfs4::SEQ4_STATUS_BACKCHANNEL_FAULT;
  return flags;
}

bool send_recall(StateTables& tables, RecallableState& state) {
  for (const nfs4::SessionId& id : state.client->sessions) {
    Session& session = *tables.find_session(id);
    const auto backchannel = backchannel_of(session);
    if (session.back_state != BackState::up || !backchannel ||
        !takes_recalls(session, state.callback))
      continue;
    for (std::uint32_t number = 0; number < session.back_slots.size(); ++number) {
      BackSlot& slot = session.back_slots[number];
      if (!slot.message.empty()) continue;
      slot.message = recall_message(tables, session, number, state);
      slot.recalled = state.number;
      slot.callback = state.callback;
      state.calling = true;
      ++state.tries;
      send(tables, session, number, backchannel);
      return true;
    }
  }
  return false;
}

}  // namespace steertag::peer
