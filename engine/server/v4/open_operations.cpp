// Operations on opens: OPEN, OPEN_CONFIRM, OPEN_DOWNGRADE, CLOSE.
#include <algorithm>

#include "server/v4/directory_access.h"
#include "server/v4/open_target.h"
#include "server/v4/state/delegations.h"
#include "server/v4/state/layouts.h"
#include "server/v4/state/shares.h"
#include "server/v4/state_access.h"
#include "server/v4/state_operations.h"

namespace steertag::peer {
namespace {

using nfs4::ClaimType;
using nfs4::Opnum;

constexpr std::uint32_t kAccessMask = nfs4::OPEN4_SHARE_ACCESS_BOTH;
/// The bits of share_access that minor version 1 adds (RFC 8881 18.16.1).
constexpr std::uint32_t kWantMask = nfs4::OPEN4_SHARE_ACCESS_WANT_DELEG_MASK |
                                    nfs4::OPEN4_SHARE_ACCESS_WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL |
                                    nfs4::OPEN4_SHARE_ACCESS_WANT_PUSH_DELEG_WHEN_UNCONTENDED;
/// RFC 8881 8.2.3: the stateid of a file that is closed; no operation takes it.
constexpr nfs4::StateId kInvalidStateid{0xffffffff, {}};

bool valid_shares(std::uint32_t access, std::uint32_t deny, std::uint32_t minorversion) {
  const std::uint32_t allowed = kAccessMask | (minorversion > 0 ? kWantMask : 0);
  const std::uint32_t wish = access & nfs4::OPEN4_SHARE_ACCESS_WANT_DELEG_MASK;
  return (access & ~allowed) == 0 && (access & kAccessMask) != 0 &&
         deny <= nfs4::OPEN4_SHARE_DENY_BOTH && wish <= nfs4::OPEN4_SHARE_ACCESS_WANT_CANCEL;
}

/// RFC 8881 18.18.3: of the added bits only those of the wanted delegation are passed over.
bool valid_downgrade(const nfs4::OpenDowngradeArgs& args, std::uint32_t minorversion) {
  const std::uint32_t ignored = minorversion > 0 ? nfs4::OPEN4_SHARE_ACCESS_WANT_DELEG_MASK : 0;
  const std::uint32_t access = args.share_access & ~ignored;
  return access != 0 && access <= nfs4::OPEN4_SHARE_ACCESS_BOTH &&
         args.share_deny <= nfs4::OPEN4_SHARE_DENY_BOTH;
}

bool is_delegate_cur(ClaimType claim) {
  return claim == ClaimType::CLAIM_DELEGATE_CUR || claim == ClaimType::CLAIM_DELEG_CUR_FH;
}

/// RFC 7530 9.6.2, RFC 8881 8.4.2: reclaims in the grace period, everything else after it.
nfs4::Status check_grace(const nfs4::OpenArgs& args, const StateTables& tables,
                         const Client& client) {
  const bool grace = tables.recovery.in_grace();
  if (args.claim.claim != ClaimType::CLAIM_PREVIOUS) {
    // RFC 8881 18.51.3: a client of minor version 1 says first that it reclaims nothing more.
    const bool waits = client.minorversion > 0 && !client.reclaim_complete;
    return grace || waits ? nfs4::Status::NFS4ERR_GRACE : nfs4::Status::NFS4_OK;
  }
  if (!grace || client.reclaim_complete) return nfs4::Status::NFS4ERR_NO_GRACE;
  return tables.recovery.may_reclaim(client) ? nfs4::Status::NFS4_OK
                                             : nfs4::Status::NFS4ERR_RECLAIM_BAD;
}

OpenOwner* find_owner(Client& client, View name) {
  const auto found = client.open_owners.find(text_of(name));
  return found == client.open_owners.end() ? nullptr : &found->second;
}

OpenState* find_open(const OpenOwner* owner, const File* file) {
  if (!owner || !file) return nullptr;
  // A client's process may have thousands of files open, a file be open thousands of times, but
  // hardly both.
  if (file->opens.size() < owner->opens.size()) {
    const auto opened = std::ranges::find(file->opens, owner, &OpenState::owner);
    return opened == file->opens.end() ? nullptr : *opened;
  }
  const auto found = std::ranges::find(owner->opens, file, &OpenState::file);
  return found == owner->opens.end() ? nullptr : *found;
}

/// Owners without an open that have been silent for a lease make room (RFC 7530 9.1.10).
void drop_idle_owners(StateTables& tables, Client& client) {
  std::vector<OpenOwner*> idle;
  for (auto& [name, owner] : client.open_owners) {
    if (owner.opens.empty() && tables.now() - owner.used > tables.options.lease)
      idle.push_back(&owner);
  }
  for (OpenOwner* owner : idle) tables.remove_open_owner(*owner);
}

nfs4::Status check_limits(StateTables& tables, Client& client, const OpenOwner* owner) {
  const auto no_owner = [&] {
    return client.open_owners.size() >= kMostOwnersPerClient || !tables.has_room_for_owner(client);
  };
  if (!owner && no_owner()) drop_idle_owners(tables, client);
  const bool full = client.opens.size() >= kMostOpensPerClient ||
                    !tables.has_room_for_state(client) || (!owner && no_owner());
  if (!full) return nfs4::Status::NFS4_OK;
  return client.minorversion > 0 ? nfs4::Status::NFS4ERR_NOSPC : nfs4::Status::NFS4ERR_RESOURCE;
}

/// One OPEN that has got as far as its owner.
struct Opening {
  const nfs4::OpenArgs& args;
  CompoundCall& call;
  StateTables& tables;
  Client& client;
  OpenOwner* owner;  // nullptr: a new one
};

/// The delegation under which the client opens has to be its own, of this file.
nfs4::Status check_delegation(const Opening& opening, const Handle& handle) {
  const nfs4::OpenClaim& claim = opening.args.claim;
  if (!is_delegate_cur(claim.claim)) return nfs4::Status::NFS4_OK;
  const nfs4::StateId& stateid = claim.claim == ClaimType::CLAIM_DELEGATE_CUR
                                     ? claim.delegate_cur_info.delegate_stateid
                                     : claim.oc_delegate_stateid;
  const auto found =
      find_state_of<DelegationState>(opening.tables, user_of(opening.call), stateid, &handle);
  return found ? nfs4::Status::NFS4_OK : found.error();
}

/// The opens and delegations of the file that is there.
nfs4::Status check_share_and_delegations(const Opening& opening, const OpenTarget& target,
                                         const Handle& handle) {
  File* file = opening.tables.find_file(handle);
  if (!file) return nfs4::Status::NFS4_OK;
  const std::uint32_t access = opening.args.share_access & kAccessMask;
  const std::uint32_t deny = opening.args.share_deny;
  const std::uint32_t used = access | (target.truncates ? nfs4::OPEN4_SHARE_ACCESS_WRITE : 0);
  if (shares_conflict(*file, used, deny)) {
    return opening.args.claim.claim == ClaimType::CLAIM_PREVIOUS
               ? nfs4::Status::NFS4ERR_RECLAIM_CONFLICT
               : nfs4::Status::NFS4ERR_SHARE_DENIED;
  }
  // RFC 8881 10.4: a read delegation goes neither with a writer nor with an open that denies
  // reading.
  const bool conflicts =
      (used & nfs4::OPEN4_SHARE_ACCESS_WRITE) != 0 || (deny & nfs4::OPEN4_SHARE_DENY_READ) != 0;
  bool waiting = conflicts && recall_delegations(opening.tables, *file, opening.client.id);
  if (target.truncates) waiting |= recall_layouts(opening.tables, *file, opening.client.id);
  return waiting ? nfs4::Status::NFS4ERR_DELAY : nfs4::Status::NFS4_OK;
}

nfs4::Status check_target(const Opening& opening, const OpenTarget& target) {
  nfs4::Status status = check_open_access(target, opening.args, opening.call);
  const OpenState* open = nullptr;
  if (target.file) {
    const Handle handle = opening.call.storage.handle(target.file->node);
    if (status == nfs4::Status::NFS4_OK) status = check_delegation(opening, handle);
    if (status == nfs4::Status::NFS4_OK)
      status = check_share_and_delegations(opening, target, handle);
    open = find_open(opening.owner, opening.tables.find_file(handle));
  } else if (is_delegate_cur(opening.args.claim.claim)) {
    return nfs4::Status::NFS4ERR_NOENT;  // what is delegated is there
  }
  if (status == nfs4::Status::NFS4_OK && !open)
    status = check_limits(opening.tables, opening.client, opening.owner);
  // A restart must not lose what is granted now.
  if (status == nfs4::Status::NFS4_OK && !opening.tables.recovery.record(opening.client))
    status = nfs4::Status::NFS4ERR_SERVERFAULT;
  return status;
}

OpenOwner& make_owner(const Opening& opening) {
  OpenOwner& owner =
      opening.tables.add_open_owner(opening.client, text_of(opening.args.owner.owner));
  // RFC 7530 9.1.11: a reclaim must not wait for a confirmation.
  owner.confirmed =
      opening.call.minorversion > 0 || opening.args.claim.claim == ClaimType::CLAIM_PREVIOUS;
  return owner;
}

/// RFC 8881 18.16.3.
nfs4::WhyNoDelegation why_no_write_delegation(std::uint32_t wish) {
  switch (wish) {
    case nfs4::OPEN4_SHARE_ACCESS_WANT_NO_DELEG:
      return nfs4::WhyNoDelegation::WND4_NOT_WANTED;
    case nfs4::OPEN4_SHARE_ACCESS_WANT_CANCEL:
      return nfs4::WhyNoDelegation::WND4_CANCELLED;
    default:
      return nfs4::WhyNoDelegation::WND4_WRITE_DELEG_NOT_SUPP_FTYPE;
  }
}

nfs4::Delegation delegation_for(const Opening& opening, File& file) {
  const nfs4::OpenArgs& args = opening.args;
  const bool reads_only = (args.share_access & kAccessMask) == nfs4::OPEN4_SHARE_ACCESS_READ;
  const bool reclaims = args.claim.claim == ClaimType::CLAIM_PREVIOUS &&
                        args.claim.delegate_type == nfs4::DelegationType::OPEN_DELEGATE_READ;
  const bool fresh =
      args.claim.claim == ClaimType::CLAIM_NULL || args.claim.claim == ClaimType::CLAIM_FH;
  if (reads_only && (fresh || reclaims))
    return grant_delegation(opening.tables, opening.client, file, args.share_access,
                            opening.call.slot);
  nfs4::Delegation none;
  const std::uint32_t wish = args.share_access & nfs4::OPEN4_SHARE_ACCESS_WANT_DELEG_MASK;
  if (fresh && wish != nfs4::OPEN4_SHARE_ACCESS_WANT_NO_PREFERENCE) {
    none.delegation_type = nfs4::DelegationType::OPEN_DELEGATE_NONE_EXT;
    none.od_whynone.ond_why = why_no_write_delegation(wish);
  }
  return none;
}

void open_file(Opening& opening, nfs4::OpenResult& result) {
  const nfs4::OpenArgs& args = opening.args;
  CompoundCall& call = opening.call;
  if (!valid_shares(args.share_access, args.share_deny, call.minorversion)) {
    result.status = nfs4::Status::NFS4ERR_INVAL;
    return;
  }
  result.status = check_grace(args, opening.tables, opening.client);
  if (result.status != nfs4::Status::NFS4_OK) return;
  auto target = find_open_target(args, call);
  result.status = target ? check_target(opening, *target) : target.error();
  if (result.status == nfs4::Status::NFS4_OK) result.status = create_or_truncate(*target, call);
  if (result.status != nfs4::Status::NFS4_OK) return;

  if (!opening.owner) opening.owner = &make_owner(opening);
  opening.owner->used = opening.tables.now();
  File& file = opening.tables.file(call.current->handle);
  OpenState* open = find_open(opening.owner, &file);
  if (!open) open = &opening.tables.add_open(*opening.owner, file);
  add_share(*open, args.share_access & kAccessMask, args.share_deny);
  // RFC 8881 13.9.2.2: who reads by an open for writing alone may be denied it now.
  if (args.share_deny != 0) opening.tables.fence(file);
  open->seqid = next_seqid(open->seqid);
  // docs/direct-access.md: references of others end before the reply.
  if (target->file && (args.share_deny & nfs4::OPEN4_SHARE_DENY_READ) != 0)
    call.storage.announce(target->file->node, ContentChange::denial);

  nfs4::OpenOk& ok = result.resok4;
  ok.stateid = opening.tables.stateid(opening.client, open->number, open->seqid);
  if (target->directory) ok.cinfo = change_since(*target->directory, call);
  ok.rflags = nfs4::OPEN4_RESULT_LOCKTYPE_POSIX;
  if (!opening.owner->confirmed) ok.rflags |= nfs4::OPEN4_RESULT_CONFIRM;
  ok.attrset = target->attrset;
  ok.attrset.trim();
  ok.delegation = delegation_for(opening, file);
  set_current_stateid(call, ok.stateid);
}

/// The open owner of a stateid of minor version 0. It is found even if its seqid has passed or the
/// file is closed, because a retry has that stateid.
OpenOwner* owner_of(StateTables& tables, const nfs4::StateId& stateid) {
  Client* client = tables.find_client_number(wire::load_u32(stateid.other.data() + 4));
  const StateNumber number = client ? number_in(tables, *client, stateid) : 0;
  if (number == 0 || client->minorversion != 0) return nullptr;
  const auto open = client->opens.find(number);
  if (open != client->opens.end()) return open->second.owner;
  const auto closed = client->closed.find(number);
  return closed == client->closed.end() ? nullptr : closed->second;
}

/// What OPEN_CONFIRM, OPEN_DOWNGRADE and CLOSE have in common: the current filehandle, the owner's
/// seqid in minor version 0, the open. `act` sets the result.
template <class Result, class Act>
void with_open(const nfs4::StateId& given, std::uint32_t seqid, Opnum operation, CompoundCall& call,
               Result& result, Act&& act) {
  StateTables& tables = call.state.tables();
  if (!call.current) {
    result.status = nfs4::Status::NFS4ERR_NOFILEHANDLE;
    return;
  }
  const auto stateid = effective_stateid(call, given);
  if (!stateid) {
    result.status = stateid.error();
    return;
  }
  OpenOwner* owner = call.minorversion == 0 ? owner_of(tables, *stateid) : nullptr;
  if (owner && !admit_seqid(owner->sequence, seqid, operation, call, result)) return;
  const auto open =
      find_state_of<OpenState>(tables, user_of(call), *stateid, &call.current->handle);
  if (!open) {
    result.status = open.error();
  } else if ((*open)->owner->confirmed == (operation == Opnum::OP_OPEN_CONFIRM)) {
    // RFC 7530 16.18.5: the first thing that is done with an owner is to confirm it, once.
    result.status = nfs4::Status::NFS4ERR_BAD_STATEID;
  } else {
    act(**open);
  }
  if (owner) keep_reply(owner->sequence, seqid, operation, result, call);
}

}  // namespace

void op_open(const nfs4::OpenArgs& args, CompoundCall& call, nfs4::OpenResult& result) {
  const auto client = acting_client(call, args.owner.clientid);
  if (!client) {
    result.status = client.error();
    return;
  }
  StateTables& tables = call.state.tables();
  OpenOwner* owner = find_owner(**client, args.owner.owner);
  const bool v40 = call.minorversion == 0;
  if (v40 && owner && !owner->confirmed &&
      order_of(owner->sequence, args.seqid) != SeqidOrder::repeated) {
    // RFC 7530 16.18.5: an owner that was not confirmed starts anew.
    tables.remove_open_owner(*owner);
    owner = nullptr;
  }
  if (owner && !admit_seqid(owner->sequence, args.seqid, Opnum::OP_OPEN, call, result)) return;
  Opening opening{args, call, tables, **client, owner};
  open_file(opening, result);
  if (v40 && opening.owner)
    keep_reply(opening.owner->sequence, args.seqid, Opnum::OP_OPEN, result, call);
}

void op_open_confirm(const nfs4::OpenConfirmArgs& args, CompoundCall& call,
                     nfs4::OpenConfirmResult& result) {
  with_open(args.open_stateid, args.seqid, Opnum::OP_OPEN_CONFIRM, call, result,
            [&](OpenState& open) {
              open.owner->confirmed = true;
              open.seqid = next_seqid(open.seqid);
              result.resok4.open_stateid =
                  call.state.tables().stateid(*open.owner->client, open.number, open.seqid);
            });
}

void op_open_downgrade(const nfs4::OpenDowngradeArgs& args, CompoundCall& call,
                       nfs4::OpenDowngradeResult& result) {
  with_open(args.open_stateid, args.seqid, Opnum::OP_OPEN_DOWNGRADE, call, result,
            [&](OpenState& open) {
              const std::uint32_t access = args.share_access & kAccessMask;
              if (!valid_downgrade(args, call.minorversion) ||
                  !may_downgrade(open, access, args.share_deny)) {
                result.status = nfs4::Status::NFS4ERR_INVAL;
                return;
              }
              const StatePolicy& policy = call.state.tables().options.policy;
              downgrade(open, access, policy.gives_denial_back ? args.share_deny : open.deny);
              call.state.tables().fence(*open.file);
              open.seqid = next_seqid(open.seqid);
              result.resok4.open_stateid =
                  call.state.tables().stateid(*open.owner->client, open.number, open.seqid);
              set_current_stateid(call, result.resok4.open_stateid);
            });
}

void op_close(const nfs4::CloseArgs& args, CompoundCall& call, nfs4::CloseResult& result) {
  StateTables& tables = call.state.tables();
  with_open(args.open_stateid, args.seqid, Opnum::OP_CLOSE, call, result, [&](OpenState& open) {
    OpenOwner& owner = *open.owner;
    Client& client = *owner.client;
    const StateNumber number = open.number;
    // RFC 8881 18.2.3: the locks of the open are released with it.
    result.resok4.open_stateid = call.minorversion > 0
                                     ? kInvalidStateid
                                     : tables.stateid(client, number, next_seqid(open.seqid));
    tables.remove_open(open);
    if (call.minorversion > 0) {
      if (owner.opens.empty()) tables.remove_open_owner(owner);
      set_current_stateid(call, kInvalidStateid);
      return;
    }
    client.closed.erase(owner.last_closed);
    client.closed[number] = &owner;
    owner.last_closed = number;
    owner.used = tables.now();
  });
}

}  // namespace steertag::peer
