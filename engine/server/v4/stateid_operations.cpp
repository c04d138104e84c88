// Operations on stateids and delegations: FREE_STATEID, TEST_STATEID, DELEGRETURN, DELEGPURGE.
#include <algorithm>

#include "server/v4/state/layouts.h"
#include "server/v4/state_access.h"
#include "server/v4/state_operations.h"

namespace steertag::peer {
namespace {

/// What TEST_STATEID and FREE_STATEID say of a layout stateid; NFS4ERR_BAD_STATEID for any other.
nfs4::Status check_layout(CompoundCall& call, const nfs4::StateId& stateid) {
  StateTables& tables = call.state.tables();
  const auto client = acting_client(call, 0);
  if (!client) return client.error();
  const auto found = (*client)->layouts.find(number_in(tables, **client, stateid));
  if (found == (*client)->layouts.end()) return nfs4::Status::NFS4ERR_BAD_STATEID;
  const auto layout = find_layout(tables, **client, stateid, found->second.file);
  return layout ? nfs4::Status::NFS4_OK : layout.error();
}

}  // namespace

void op_free_stateid(const nfs4::FreeStateidArgs& args, CompoundCall& call,
                     nfs4::FreeStateidResult& result) {
  StateTables& tables = call.state.tables();
  const auto client = acting_client(call, 0);
  const auto stateid = effective_stateid(call, args.fsa_stateid);
  if (!client || !stateid) {
    result.status = client ? stateid.error() : client.error();
    return;
  }
  const auto found = find_state(tables, user_of(call), *stateid);
  if (!found) {
    result.status = found.error();
    // RFC 8881 18.38.3: layouts that are held are given back by LAYOUTRETURN.
    if (check_layout(call, *stateid) == nfs4::Status::NFS4_OK)
      result.status = nfs4::Status::NFS4ERR_LOCKS_HELD;
    if (result.status != nfs4::Status::NFS4ERR_DELEG_REVOKED) return;
    // RFC 8881 18.38.3: the client has taken notice.
    (*client)->revoked.erase(number_in(tables, **client, *stateid));
    result.status = nfs4::Status::NFS4_OK;
    return;
  }
  LockState* const* lock = std::get_if<LockState*>(&*found);
  const auto holds = [&](const LockRange& range) { return range.state == *lock; };
  if (!lock || std::ranges::any_of((*lock)->file->ranges, holds)) {
    result.status = nfs4::Status::NFS4ERR_LOCKS_HELD;
  } else {
    tables.remove_lock(**lock);
  }
}

void op_test_stateid(const nfs4::TestStateidArgs& args, CompoundCall& call,
                     nfs4::TestStateidResult& result) {
  for (const nfs4::StateId& stateid : args.ts_stateids) {
    // RFC 8881 18.48.3: special stateids, the current one among them, are NFS4ERR_BAD_STATEID.
    const auto found = find_state(call.state.tables(), user_of(call), stateid);
    nfs4::Status status = found ? nfs4::Status::NFS4_OK : found.error();
    if (status == nfs4::Status::NFS4ERR_BAD_STATEID) status = check_layout(call, stateid);
    result.resok4.tsr_status_codes.push_back(status);
  }
}

void op_delegreturn(const nfs4::DelegreturnArgs& args, CompoundCall& call,
                    nfs4::DelegreturnResult& result) {
  StateTables& tables = call.state.tables();
  if (!call.current) {
    result.status = nfs4::Status::NFS4ERR_NOFILEHANDLE;
    return;
  }
  const auto stateid = effective_stateid(call, args.deleg_stateid);
  if (!stateid) {
    result.status = stateid.error();
    return;
  }
  const auto found =
      find_state_of<DelegationState>(tables, user_of(call), *stateid, &call.current->handle);
  if (found) {
    tables.remove_delegation(**found);
  } else {
    result.status = found.error();
  }
}

void op_delegpurge(const nfs4::DelegpurgeArgs& /*args*/, CompoundCall& /*call*/,
                   nfs4::DelegpurgeResult& result) {
  // RFC 8881 18.5.3: a server without CLAIM_DELEGATE_PREV has nothing to purge and says so.
  result.status = nfs4::Status::NFS4ERR_NOTSUPP;
}

}  // namespace steertag::peer
