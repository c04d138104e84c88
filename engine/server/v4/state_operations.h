// The handlers of the operations on clients, sessions, opens, locks and delegations.
// See compound_call.h for their shape.
#pragma once

#include "server/v4/compound_call.h"

namespace steertag::peer {

// Minor version 0 only (RFC 7530 16).
void op_setclientid(const nfs4::SetclientidArgs& args, CompoundCall& call,
                    nfs4::SetclientidResult& result);
void op_setclientid_confirm(const nfs4::SetclientidConfirmArgs& args, CompoundCall& call,
                            nfs4::SetclientidConfirmResult& result);
void op_renew(const nfs4::RenewArgs& args, CompoundCall& call, nfs4::RenewResult& result);
void op_open_confirm(const nfs4::OpenConfirmArgs& args, CompoundCall& call,
                     nfs4::OpenConfirmResult& result);
void op_release_lockowner(const nfs4::ReleaseLockownerArgs& args, CompoundCall& call,
                          nfs4::ReleaseLockownerResult& result);

// Minor version 1 only (RFC 8881 18). Where an operation may stand in a COMPOUND
// (NFS4ERR_SEQUENCE_POS, OP_NOT_IN_SESSION, NOT_ONLY_OP) is the interpreter's; op_sequence checks
// operation_count and request_bytes against the session's limits.
void op_exchange_id(const nfs4::ExchangeIdArgs& args, CompoundCall& call,
                    nfs4::ExchangeIdResult& result);
void op_create_session(const nfs4::CreateSessionArgs& args, CompoundCall& call,
                       nfs4::CreateSessionResult& result);
void op_destroy_session(const nfs4::DestroySessionArgs& args, CompoundCall& call,
                        nfs4::DestroySessionResult& result);
void op_destroy_clientid(const nfs4::DestroyClientidArgs& args, CompoundCall& call,
                         nfs4::DestroyClientidResult& result);
void op_sequence(const nfs4::SequenceArgs& args, CompoundCall& call, nfs4::SequenceResult& result);
void op_bind_conn_to_session(const nfs4::BindConnToSessionArgs& args, CompoundCall& call,
                             nfs4::BindConnToSessionResult& result);
void op_backchannel_ctl(const nfs4::BackchannelCtlArgs& args, CompoundCall& call,
                        nfs4::BackchannelCtlResult& result);
void op_reclaim_complete(const nfs4::ReclaimCompleteArgs& args, CompoundCall& call,
                         nfs4::ReclaimCompleteResult& result);
void op_free_stateid(const nfs4::FreeStateidArgs& args, CompoundCall& call,
                     nfs4::FreeStateidResult& result);
void op_test_stateid(const nfs4::TestStateidArgs& args, CompoundCall& call,
                     nfs4::TestStateidResult& result);

// Both minor versions.
void op_open(const nfs4::OpenArgs& args, CompoundCall& call, nfs4::OpenResult& result);
void op_open_downgrade(const nfs4::OpenDowngradeArgs& args, CompoundCall& call,
                       nfs4::OpenDowngradeResult& result);
void op_close(const nfs4::CloseArgs& args, CompoundCall& call, nfs4::CloseResult& result);
void op_lock(const nfs4::LockArgs& args, CompoundCall& call, nfs4::LockResult& result);
void op_lockt(const nfs4::LocktArgs& args, CompoundCall& call, nfs4::LocktResult& result);
void op_locku(const nfs4::LockuArgs& args, CompoundCall& call, nfs4::LockuResult& result);
void op_delegreturn(const nfs4::DelegreturnArgs& args, CompoundCall& call,
                    nfs4::DelegreturnResult& result);
void op_delegpurge(const nfs4::DelegpurgeArgs& args, CompoundCall& call,
                   nfs4::DelegpurgeResult& result);

}  // namespace steertag::peer
