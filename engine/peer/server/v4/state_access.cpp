// What the handlers of state operations share.
#include "peer/server/v4/state_access.h"

namespace steertag::peer {

using nfs4::Status;

Expected<Client*, Status> acting_client(CompoundCall& call, std::uint64_t named) {
  StateTables& tables = call.state.tables();
  if (call.minorversion > 0) {
    Client* client = call.clientid ? tables.find_client(*call.clientid) : nullptr;
    if (!client) return tl::unexpected(Status::NFS4ERR_DEADSESSION);
    return client;
  }
  Client* client = tables.find_client(named);
  if (!client || client->minorversion != 0 || !client->confirmed)
    return tl::unexpected(Status::NFS4ERR_STALE_CLIENTID);
  renew(tables, *client);
  return client;
}

SeqidOrder order_of(const OwnerSequence& sequence, std::uint32_t seqid) {
  if (seqid == sequence.seqid && sequence.reply) return SeqidOrder::repeated;
  // RFC 7530 9.1.3: seqids of owners wrap to zero.
  return seqid == sequence.seqid + 1 ? SeqidOrder::next : SeqidOrder::wrong;
}

bool moves_seqid(Status status) {
  switch (status) {
    case Status::NFS4ERR_STALE_CLIENTID:
    case Status::NFS4ERR_STALE_STATEID:
    case Status::NFS4ERR_BAD_STATEID:
    case Status::NFS4ERR_BAD_SEQID:
    case Status::NFS4ERR_BADXDR:
    case Status::NFS4ERR_RESOURCE:
    case Status::NFS4ERR_NOFILEHANDLE:
    case Status::NFS4ERR_MOVED:
      return false;
    default:
      return true;
  }
}

}  // namespace steertag::peer
