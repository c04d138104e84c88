// What the handlers of state operations share.
#include "server/v4/state_access.h"

namespace steertag::peer {

Expected<Client*, nfs4::Status> acting_client(CompoundCall& call, std::uint64_t named) {
  StateTables& tables = call.state.tables();
  if (call.minorversion > 0) {
    Client* client = call.clientid ? tables.find_client(*call.clientid) : nullptr;
    if (!client) return tl::unexpected(nfs4::Status::NFS4ERR_DEADSESSION);
    return client;
  }
  Client* client = tables.find_client(named);
  // RFC 7530 9.6.3.2: the use of a clientid whose lease was cancelled.
  if (!client && tables.was_cancelled(named)) return tl::unexpected(nfs4::Status::NFS4ERR_EXPIRED);
  if (!client || client->minorversion != 0 || !client->confirmed)
    return tl::unexpected(nfs4::Status::NFS4ERR_STALE_CLIENTID);
  renew(tables, *client);
  return client;
}

SeqidOrder order_of(const OwnerSequence& sequence, std::uint32_t seqid) {
  if (seqid == sequence.seqid && sequence.reply) return SeqidOrder::repeated;
  // RFC 7530 9.1.3: seqids of owners wrap to zero.
  return seqid == sequence.seqid + 1 ? SeqidOrder::next : SeqidOrder::wrong;
}

bool moves_seqid(nfs4::Status status, const CompoundCall& call) {
  const bool failed = status != nfs4::Status::NFS4_OK;
  if (failed && !call.state.tables().options.policy.failures_use_seqids) return false;
  switch (status) {
    case nfs4::Status::NFS4ERR_STALE_CLIENTID:
    case nfs4::Status::NFS4ERR_STALE_STATEID:
    case nfs4::Status::NFS4ERR_BAD_STATEID:
    case nfs4::Status::NFS4ERR_BAD_SEQID:
    case nfs4::Status::NFS4ERR_BADXDR:
    case nfs4::Status::NFS4ERR_RESOURCE:
    case nfs4::Status::NFS4ERR_NOFILEHANDLE:
    case nfs4::Status::NFS4ERR_MOVED:
      return false;
    default:
      return true;
  }
}

}  // namespace steertag::peer
