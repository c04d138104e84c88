// Operations by which clients make themselves known, of both minor versions.
// EXCHANGE_ID, DESTROY_CLIENTID and RECLAIM_COMPLETE; SETCLIENTID, SETCLIENTID_CONFIRM and RENEW of
// minor version 0.
#include <limits>

#include "net/source_name.h"
#include "server/v4/state_access.h"
#include "server/v4/state_operations.h"

namespace steertag::peer {
namespace {

constexpr std::uint32_t kExchangeFlags =
    nfs4::EXCHGID4_FLAG_SUPP_MOVED_REFER | nfs4::EXCHGID4_FLAG_SUPP_MOVED_MIGR |
    nfs4::EXCHGID4_FLAG_BIND_PRINC_STATEID | nfs4::EXCHGID4_FLAG_MASK_PNFS |
    nfs4::EXCHGID4_FLAG_UPD_CONFIRMED_REC_A;
constexpr std::string_view kImplementationDomain = "steertag";
constexpr std::string_view kImplementationName = "steertag reference server";
constexpr std::size_t kFileSystemDigits = std::numeric_limits<std::uint64_t>::digits10 + 1;

nfs4::Verifier random_verifier(StateTables& tables) {
  nfs4::Verifier verifier;
  wire::store_u64(verifier.data(), tables.options.random());
  return verifier;
}

/// What the server is to the client.
std::uint32_t pnfs_flags(const PnfsRole& pnfs) {
  const std::uint32_t metadata =
      pnfs.is_metadata_server() ? nfs4::EXCHGID4_FLAG_USE_PNFS_MDS : std::uint32_t{0};
  if (!pnfs.is_data_server()) return metadata ? metadata : nfs4::EXCHGID4_FLAG_USE_NON_PNFS;
  const bool is_plain = !metadata && pnfs.data_servers->policy().second_role;
  return nfs4::EXCHGID4_FLAG_USE_PNFS_DS | metadata |
         (is_plain ? nfs4::EXCHGID4_FLAG_USE_NON_PNFS : 0);
}

Client* make_client(StateTables& tables, std::uint32_t minorversion, std::string_view owner,
                    const nfs4::Verifier& verifier, const CallContext& context) {
  // All addresses that one host may have, so far as that can be known.
  const std::string host = net::source_name(context.connection.peer_host);
  if (!tables.make_room_for_client(host)) return nullptr;
  Client& made = tables.add_client(minorversion, owner, host);
  made.verifier = verifier;
  made.principal = context.caller.uid;
  return &made;
}

/// Whether this principal's client may not take the place of a confirmed one of the same owner. A
/// live client of another principal keeps its state.
bool owner_in_use_by_other_principal(const Client& confirmed, std::uint32_t principal,
                                     const StateTables& tables) {
  return confirmed.principal != principal && confirmed.holds_state() &&
         !tables.lease_over(confirmed);
}

/// The record that EXCHANGE_ID speaks of, new or old (RFC 8881 18.35.4).
Expected<Client*, nfs4::Status> record_for_exchange_id(const nfs4::ExchangeIdArgs& args,
                                                       const CallContext& context,
                                                       StateTables& tables) {
  const Caller& caller = context.caller;
  const std::string_view owner = text_of(args.eia_clientowner.co_ownerid);
  const nfs4::Verifier& verifier = args.eia_clientowner.co_verifier;
  Client* confirmed = tables.find_client(1, owner, true);
  if ((args.eia_flags & nfs4::EXCHGID4_FLAG_UPD_CONFIRMED_REC_A) != 0) {
    if (!confirmed) return tl::unexpected(nfs4::Status::NFS4ERR_NOENT);  // case 7
    if (confirmed->verifier != verifier)
      return tl::unexpected(nfs4::Status::NFS4ERR_NOT_SAME);                                    // 8
    if (confirmed->principal != caller.uid) return tl::unexpected(nfs4::Status::NFS4ERR_PERM);  // 9
    return confirmed;                                                                           // 6
  }
  if (confirmed && confirmed->principal != caller.uid) {
    // Case 3, collision.
    if (owner_in_use_by_other_principal(*confirmed, caller.uid, tables))
      return tl::unexpected(nfs4::Status::NFS4ERR_CLID_INUSE);
    tables.remove_client(*confirmed);
    confirmed = nullptr;
  }
  if (confirmed && confirmed->verifier == verifier) return confirmed;  // case 2
  // Cases 1, 4, 5: at most one unconfirmed record an owner; a confirmed one lives on until
  // CREATE_SESSION confirms this one.
  if (Client* unconfirmed = tables.find_client(1, owner, false)) tables.remove_client(*unconfirmed);
  Client* made = make_client(tables, 1, owner, verifier, context);
  if (!made) return tl::unexpected(nfs4::Status::NFS4ERR_DELAY);
  made->create_reply.status = nfs4::Status::NFS4ERR_SEQ_MISORDERED;  // RFC 8881 18.36.4
  return made;
}

}  // namespace

void op_exchange_id(const nfs4::ExchangeIdArgs& args, CompoundCall& call,
                    nfs4::ExchangeIdResult& result) {
  StateTables& tables = call.state.tables();
  // RFC 8881 18.35.3: flags without a meaning, and EXCHGID4_FLAG_CONFIRMED_R from a client.
  if ((args.eia_flags & ~kExchangeFlags) != 0) {
    result.status = nfs4::Status::NFS4ERR_INVAL;
    return;
  }
  // SP4_MACH_CRED and SP4_SSV need RPCSEC_GSS, which this server does not speak. RFC 8881 18.35.3
  // has NFS4ERR_ENCR_ALG_UNSUPP for SSV without a common algorithm. For the other it has
  // NFS4ERR_INVAL, since the principal does not use RPCSEC_GSS.
  if (args.eia_state_protect.spa_how != nfs4::StateProtectHow::SP4_NONE) {
    const bool ssv = args.eia_state_protect.spa_how == nfs4::StateProtectHow::SP4_SSV;
    result.status = ssv ? nfs4::Status::NFS4ERR_ENCR_ALG_UNSUPP : nfs4::Status::NFS4ERR_INVAL;
    return;
  }
  const auto client = record_for_exchange_id(args, call.context, tables);
  if (!client) {
    result.status = client.error();
    return;
  }
  nfs4::ExchangeIdOk& ok = result.resok4;
  ok.eir_clientid = (*client)->id;
  ok.eir_sequenceid = (*client)->create_sequence + 1;
  // RFC 8881 13.1: the same roles at each address, whatever the client asks for.
  ok.eir_flags = pnfs_flags(call.pnfs);
  if ((*client)->confirmed) ok.eir_flags |= nfs4::EXCHGID4_FLAG_CONFIRMED_R;
  // One server owner for every address: clients may trunk (RFC 8881 2.10.5). The boot instance is
  // not in it, since a restarted server is the same server; the file system is, because another
  // server is not.
  const auto root = call.storage.attributes(call.storage.export_root());
  const std::string number = std::to_string(root ? root->filesystem_id : 0);
  // Of one length, so that the replies of two servers have one layout.
  const std::string name = std::string(kImplementationName) + ' ' +
                           std::string(kFileSystemDigits - number.size(), '0') + number;
  // A data server is another server: its client IDs and sessions are its own.
  const bool is_another = call.pnfs.is_data_server() && !call.pnfs.is_metadata_server();
  const std::string owner =
      is_another ? name + " data server " + std::to_string(*call.pnfs.index) : name;
  const View octets = octets_of(owner);
  call.scratch.assign(octets.begin(), octets.end());
  ok.eir_server_owner.so_major_id = call.scratch;
  ok.eir_server_scope = View(call.scratch).first(name.size());
  nfs4::ImplId implementation;
  implementation.nii_domain = kImplementationDomain;
  implementation.nii_name = kImplementationName;
  ok.eir_server_impl_id.push_back(implementation);
}

void op_destroy_clientid(const nfs4::DestroyClientidArgs& args, CompoundCall& call,
                         nfs4::DestroyClientidResult& result) {
  StateTables& tables = call.state.tables();
  Client* client = tables.find_client(args.dca_clientid);
  if (!client || client->minorversion == 0) {
    result.status = nfs4::Status::NFS4ERR_STALE_CLIENTID;
  } else if (!client->sessions.empty() || client->holds_state()) {
    result.status = nfs4::Status::NFS4ERR_CLIENTID_BUSY;
  } else {
    tables.remove_client(*client);
  }
}

void op_reclaim_complete(const nfs4::ReclaimCompleteArgs& args, CompoundCall& call,
                         nfs4::ReclaimCompleteResult& result) {
  StateTables& tables = call.state.tables();
  const auto client = acting_client(call, 0);
  if (!client) {
    result.status = client.error();
    return;
  }
  if (args.rca_one_fs) {
    // RFC 8881 18.51.3: about one file system that has moved, which ours do not do; it needs a
    // current filehandle nevertheless.
    if (!call.current) result.status = nfs4::Status::NFS4ERR_NOFILEHANDLE;
    return;
  }
  if ((*client)->reclaim_complete) {
    result.status = nfs4::Status::NFS4ERR_COMPLETE_ALREADY;
    return;
  }
  tables.recovery.complete(**client);
  (*client)->reclaim_complete = true;
  (*client)->status_flags &= ~nfs4::SEQ4_STATUS_RESTART_RECLAIM_NEEDED;  // RFC 8881 18.46.3
}

// RFC 7530 16.33.5. Callbacks of minor version 0 need a connection to the client, and we make none.
// The callback location is kept for NFS4ERR_CLID_INUSE only. No delegation is granted.
void op_setclientid(const nfs4::SetclientidArgs& args, CompoundCall& call,
                    nfs4::SetclientidResult& result) {
  StateTables& tables = call.state.tables();
  const Caller& caller = call.context.caller;
  const std::string_view owner = text_of(args.client.id);
  Client* confirmed = tables.find_client(0, owner, true);
  if (confirmed && owner_in_use_by_other_principal(*confirmed, caller.uid, tables)) {
    result.status = nfs4::Status::NFS4ERR_CLID_INUSE;
    result.client_using.na_r_netid = confirmed->netid;
    result.client_using.na_r_addr = confirmed->address;
    return;
  }
  if (Client* unconfirmed = tables.find_client(0, owner, false)) tables.remove_client(*unconfirmed);
  const nfs4::Verifier confirm = random_verifier(tables);
  if (confirmed && confirmed->principal == caller.uid &&
      confirmed->verifier == args.client.verifier) {
    confirmed->update = confirm;  // a change of the callback location only
    result.resok4 = {confirmed->id, confirm};
    return;
  }
  Client* made = make_client(tables, 0, owner, args.client.verifier, call.context);
  if (!made) {
    result.status = nfs4::Status::NFS4ERR_RESOURCE;
    return;
  }
  made->confirm = confirm;
  made->netid = args.callback.cb_location.na_r_netid;
  made->address = args.callback.cb_location.na_r_addr;
  result.resok4 = {made->id, confirm};
}

// RFC 7530 16.34.5.
void op_setclientid_confirm(const nfs4::SetclientidConfirmArgs& args, CompoundCall& call,
                            nfs4::SetclientidConfirmResult& result) {
  StateTables& tables = call.state.tables();
  Client* client = tables.find_client(args.clientid);
  if (!client || client->minorversion != 0) {
    result.status = nfs4::Status::NFS4ERR_STALE_CLIENTID;
    return;
  }
  const bool update = client->update == args.setclientid_confirm;
  if (client->confirm != args.setclientid_confirm && !update) {
    result.status = nfs4::Status::NFS4ERR_STALE_CLIENTID;
    return;
  }
  if (client->principal != call.context.caller.uid) {
    result.status = nfs4::Status::NFS4ERR_CLID_INUSE;
    return;
  }
  if (update) {
    client->confirm = args.setclientid_confirm;
    client->update.reset();
  } else if (!client->confirmed) {
    Client* former = tables.find_client(0, client->owner, true);
    // It may have got state since SETCLIENTID.
    if (former && owner_in_use_by_other_principal(*former, client->principal, tables)) {
      result.status = nfs4::Status::NFS4ERR_CLID_INUSE;
      return;
    }
    if (former) tables.remove_client(*former);
    client->confirmed = true;
  }
  renew(tables, *client);
}

void op_renew(const nfs4::RenewArgs& args, CompoundCall& call, nfs4::RenewResult& result) {
  const auto client = acting_client(call, args.clientid);
  if (!client) result.status = client.error();
}

}  // namespace steertag::peer
