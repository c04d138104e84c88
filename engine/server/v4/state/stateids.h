// Stateids (RFC 7530 9.1.4, RFC 8881 8.2): which state one stands for, and whether it may be used.
#pragma once

#include <variant>

#include "server/v4/state/tables.h"

namespace steertag::peer {

/// "Anonymous": all zeros.
bool is_anonymous(const nfs4::StateId& stateid);
/// "READ bypass": all ones.
bool is_read_bypass(const nfs4::StateId& stateid);

using StatePointer = std::variant<OpenState*, LockState*, DelegationState*>;

/// Who uses a stateid: the session's client in minor version 1; in minor version 0 the stateid
/// itself tells.
struct StateUser {
  std::uint32_t minorversion = 0;
  std::optional<ClientId> client;
};

/// The state that a stateid stands for. Minor version 0 has NFS4ERR_STALE_STATEID for one of an
/// earlier run, and NFS4ERR_EXPIRED when its client is gone. Both have NFS4ERR_DELEG_REVOKED,
/// NFS4ERR_OLD_STATEID for a seqid of the past, and NFS4ERR_BAD_STATEID for everything else. In
/// minor version 1 seqid 0 stands for the present one. Changes nothing.
Expected<StatePointer, nfs4::Status> find_state(StateTables& tables, const StateUser& user,
                                                const nfs4::StateId& stateid);

/// The same for an operation that takes one kind; another kind is NFS4ERR_BAD_STATEID. With `file`,
/// the state must be of that file. In minor version 0 it renews the client's lease.
template <class State>
Expected<State*, nfs4::Status> find_state_of(StateTables& tables, const StateUser& user,
                                             const nfs4::StateId& stateid, const Handle* file);

/// The number in a stateid of this run and of this client; 0: it is none.
StateNumber number_in(const StateTables& tables, const Client& client,
                      const nfs4::StateId& stateid);

Client& client_of(const StatePointer& state);
File& file_of(const StatePointer& state);

/// Renews a lease, which every use of a client's state does in minor version 0.
void renew(StateTables& tables, Client& client);

}  // namespace steertag::peer
