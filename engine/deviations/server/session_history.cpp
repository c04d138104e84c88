// What sessions have seen.
#include "deviations/server/session_history.h"

#include <algorithm>

#include "deviations/server/compound.h"
#include "rpc/message.h"
#include "server/v4/state/limits.h"

namespace steertag::deviations {
namespace {

using nfs4::Opnum;
using nfs4::Status;

void note_credential(SlotHistory& slot, View call) {
  wire::Reader reader(call);
  rpc::CallHeader header;
  header.decode(reader);
  slot.flavor = header.credential.flavor;
  slot.credential.assign(header.credential.body.begin(), header.credential.body.end());
}

}  // namespace

void SessionTable::note_call(View call) {
  const auto args = arguments_of<nfs4::SequenceArgs>(call, Opnum::OP_SEQUENCE);
  if (SlotHistory* slot = slot_of(call)) slot->retried = slot->sequence == args->sa_sequenceid;
}

void SessionTable::note_reply(const peer::ReplyStep& reply) {
  const View results = reply.reply.stream();
  const auto created = result_of<nfs4::CreateSessionResult>(results, Opnum::OP_CREATE_SESSION);
  if (created && created->status == Status::NFS4_OK) {
    const auto args = arguments_of<nfs4::CreateSessionArgs>(reply.call, Opnum::OP_CREATE_SESSION);
    if (!args) return;
    if (sessions_.size() == kMostSessionHistories) sessions_.clear();
    SessionHistory& session = sessions_[created->resok4.csr_sessionid];
    session.client = args->csa_clientid;
    session.cb_program = args->csa_cb_program;
    session.connections.insert(reply.connection);
  }
  const auto sequence = result_of<nfs4::SequenceResult>(results, Opnum::OP_SEQUENCE);
  if (sequence && sequence->status == Status::NFS4_OK) {
    const auto args = arguments_of<nfs4::SequenceArgs>(reply.call, Opnum::OP_SEQUENCE);
    SessionHistory* session = session_of(reply.call);
    if (!session) return;
    session->connections.insert(reply.connection);
    SlotHistory& slot = session->slots[args->sa_slotid];
    slot.sequence = args->sa_sequenceid;
    slot.reply_dropped = false;
    if (!slot.retried) note_credential(slot, reply.call);
  }
  const auto got = result_of<nfs4::LayoutgetResult>(results, Opnum::OP_LAYOUTGET);
  if (got && got->status == Status::NFS4_OK) {
    if (SessionHistory* session = session_of(reply.call)) session->got_layout = true;
  }
  const auto returned = result_of<nfs4::LayoutreturnResult>(results, Opnum::OP_LAYOUTRETURN);
  if (returned && returned->status == Status::NFS4_OK) {
    if (SessionHistory* session = session_of(reply.call)) session->returned_layout = true;
  }
  const auto found = result_of<nfs4::GetdeviceinfoResult>(results, Opnum::OP_GETDEVICEINFO);
  if (found && found->status == Status::NFS4_OK) {
    const auto args = arguments_of<nfs4::GetdeviceinfoArgs>(reply.call, Opnum::OP_GETDEVICEINFO);
    if (args) device = args->gdia_device_id;
  }
  const auto bound =
      result_of<nfs4::BindConnToSessionResult>(results, Opnum::OP_BIND_CONN_TO_SESSION);
  if (bound && bound->status == Status::NFS4_OK) {
    if (SessionHistory* session = find(bound->resok4.bctsr_sessid))
      session->connections.insert(reply.connection);
  }
  const auto destroyed = result_of<nfs4::DestroySessionResult>(results, Opnum::OP_DESTROY_SESSION);
  if (destroyed && destroyed->status == Status::NFS4_OK) {
    const auto args = arguments_of<nfs4::DestroySessionArgs>(reply.call, Opnum::OP_DESTROY_SESSION);
    if (args) sessions_.erase(args->dsa_sessionid);
  }
}

SessionHistory* SessionTable::find(const nfs4::SessionId& id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

SessionHistory* SessionTable::session_of(View call) {
  const auto args = arguments_of<nfs4::SequenceArgs>(call, Opnum::OP_SEQUENCE);
  return args ? find(args->sa_sessionid) : nullptr;
}

SlotHistory* SessionTable::slot_of(View call) {
  const auto args = arguments_of<nfs4::SequenceArgs>(call, Opnum::OP_SEQUENCE);
  SessionHistory* session = args ? find(args->sa_sessionid) : nullptr;
  if (!session || args->sa_slotid >= peer::kMostOfferedSlots) return nullptr;
  return &session->slots[args->sa_slotid];
}

bool SessionTable::any_other_has(const SessionHistory& session, std::uint64_t connection) const {
  return std::ranges::any_of(sessions_, [&](const auto& entry) {
    return &entry.second != &session && entry.second.connections.contains(connection);
  });
}

std::size_t SessionTable::count_of_client(std::uint64_t client) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      sessions_, [&](const auto& entry) { return entry.second.client == client; }));
}

std::optional<nfs4::SessionId> SessionTable::of_other_client(std::uint64_t client) const {
  for (const auto& [id, session] : sessions_) {
    if (session.client != client) return id;
  }
  return std::nullopt;
}

std::optional<nfs4::SessionId> SessionTable::with_end_of(const nfs4::SessionId& id) const {
  const std::size_t half = id.size() / 2;
  for (const auto& [known, session] : sessions_) {
    if (std::ranges::equal(View(known).subspan(half), View(id).subspan(half))) return known;
  }
  return std::nullopt;
}

}  // namespace steertag::deviations
