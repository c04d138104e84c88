// Operations on byte-range locks: LOCK, LOCKT, LOCKU, RELEASE_LOCKOWNER.
#include <algorithm>

#include "server/v4/directory_access.h"
#include "server/v4/state/byte_ranges.h"
#include "server/v4/state/delegations.h"
#include "server/v4/state_access.h"
#include "server/v4/state_operations.h"

namespace steertag::peer {
namespace {

using nfs4::LockType;
using nfs4::Opnum;

bool is_write(LockType type) {
  return type == LockType::WRITE_LT || type == LockType::WRITEW_LT;
}

LockOwner* find_owner(Client& client, View name) {
  const auto found = client.lock_owners.find(text_of(name));
  return found == client.lock_owners.end() ? nullptr : &found->second;
}

LockState* find_lock(const LockOwner* owner, const OpenState& open) {
  if (!owner) return nullptr;
  const auto found = std::ranges::find(owner->states, &open, &LockState::open);
  return found == owner->states.end() ? nullptr : *found;
}

void fill_lock_denied(const LockRange& range, nfs4::LockDenied& denied) {
  denied.offset = range.first;
  denied.length = length_of(range);
  denied.locktype = range.write ? LockType::WRITE_LT : LockType::READ_LT;
  const LockOwner& owner = *range.state->owner;
  // RFC 8881 18.10.3, 18.11.3: the client id of the owner, whichever client asks.
  denied.owner = {owner.client->id, octets_of(owner.name)};
}

/// RFC 7530 9.6.2, RFC 8881 8.4.2.
nfs4::Status check_grace(const StateTables& tables, const Client& client, bool reclaim) {
  if (!reclaim) {
    // RFC 8881 18.51.3: as with OPEN, nothing new before the client has said that it is done.
    const bool waits = client.minorversion > 0 && !client.reclaim_complete;
    return tables.recovery.in_grace() || waits ? nfs4::Status::NFS4ERR_GRACE
                                               : nfs4::Status::NFS4_OK;
  }
  if (!tables.recovery.in_grace() || client.reclaim_complete) return nfs4::Status::NFS4ERR_NO_GRACE;
  return tables.recovery.may_reclaim(client) ? nfs4::Status::NFS4_OK
                                             : nfs4::Status::NFS4ERR_RECLAIM_BAD;
}

/// A LOCK whose stateid was found.
struct Locking {
  const nfs4::LockArgs& args;
  CompoundCall& call;
  OpenState& open;
  LockOwner* owner;  // nullptr: a new one
  LockState* lock;   // nullptr: a new one
  View owner_name;
};

/// Owners of minor version 0 that have nothing and were not released make room for others.
void drop_idle_owners(StateTables& tables, Client& client) {
  std::vector<LockOwner*> idle;
  for (auto& [name, owner] : client.lock_owners) {
    if (owner.states.empty()) idle.push_back(&owner);
  }
  for (LockOwner* owner : idle) tables.remove_lock_owner(*owner);
}

bool has_room_for_ranges(const Client& client, const File& file) {
  return client.range_count + kMostNewRanges <= kMostRangesPerClient &&
         file.ranges.size() + kMostNewRanges <= kMostRangesPerFile;
}

nfs4::Status check_limits(StateTables& tables, const Locking& locking) {
  Client& client = *locking.open.owner->client;
  const auto no_owner = [&] {
    return client.lock_owners.size() >= kMostOwnersPerClient || !tables.has_room_for_owner(client);
  };
  if (!locking.owner && no_owner()) drop_idle_owners(tables, client);
  const bool full = !has_room_for_ranges(client, *locking.open.file) ||
                    (!locking.lock && (client.locks.size() >= kMostLockStatesPerClient ||
                                       !tables.has_room_for_state(client))) ||
                    (!locking.owner && no_owner());
  if (!full) return nfs4::Status::NFS4_OK;
  // Of the errors that RFC 8881 15.2 lets LOCK have none is about a limit. NFS4ERR_DELAY would have
  // the client wait for what only the client itself can end. NFS4ERR_DENIED would name an owner who
  // is not in the way. 15.1.1.6 has NFS4ERR_SERVERFAULT for what no other error says.
  return client.minorversion > 0 ? nfs4::Status::NFS4ERR_SERVERFAULT
                                 : nfs4::Status::NFS4ERR_RESOURCE;
}

nfs4::Status check_lock(StateTables& tables, const Locking& locking) {
  const Client& client = *locking.open.owner->client;
  if (!locking.open.owner->confirmed) return nfs4::Status::NFS4ERR_BAD_STATEID;
  const nfs4::Status status = check_grace(tables, client, locking.args.reclaim);
  if (status != nfs4::Status::NFS4_OK) return status;
  const std::uint32_t needed = is_write(locking.args.locktype) ? nfs4::OPEN4_SHARE_ACCESS_WRITE
                                                               : nfs4::OPEN4_SHARE_ACCESS_READ;
  if ((locking.open.access & needed) == 0) return nfs4::Status::NFS4ERR_OPENMODE;
  return check_limits(tables, locking);
}

void take_lock(Locking& locking, nfs4::LockResult& result) {
  CompoundCall& call = locking.call;
  StateTables& tables = call.state.tables();
  const bool write = is_write(locking.args.locktype);
  const auto range = byte_range(locking.args.offset, locking.args.length);
  result.status = range ? check_lock(tables, locking) : nfs4::Status::NFS4ERR_INVAL;
  if (result.status != nfs4::Status::NFS4_OK) return;
  if (const LockRange* other = conflicting(*locking.open.file, locking.owner, *range, write)) {
    result.status = locking.args.reclaim ? nfs4::Status::NFS4ERR_RECLAIM_CONFLICT
                                         : nfs4::Status::NFS4ERR_DENIED;
    fill_lock_denied(*other, result.denied);
    return;
  }
  Client& client = *locking.open.owner->client;
  File& file = *locking.open.file;
  const bool mandatory = tables.options.mandatory_locks;
  // RFC 8881 18.10.4: what is read under a delegation does not come here.
  if (mandatory && recall_delegations(tables, file, client.id)) {
    result.status = nfs4::Status::NFS4ERR_DELAY;
    return;
  }
  if (!locking.owner) locking.owner = &tables.add_lock_owner(client, text_of(locking.owner_name));
  if (!locking.lock) locking.lock = &tables.add_lock(*locking.owner, locking.open);
  lock_range(*locking.lock, *range, write);
  if (mandatory) tables.fence(file);  // RFC 8881 13.9.2.1
  locking.lock->seqid = next_seqid(locking.lock->seqid);
  result.resok4.lock_stateid = tables.stateid(client, locking.lock->number, locking.lock->seqid);
  set_current_stateid(call, result.resok4.lock_stateid);
}

/// The open of a stateid of minor version 0, whatever its seqid.
OpenState* open_of(StateTables& tables, const nfs4::StateId& stateid) {
  Client* client = tables.find_client_number(wire::load_u32(stateid.other.data() + 4));
  if (!client || client->minorversion != 0) return nullptr;
  const auto found = client->opens.find(number_in(tables, *client, stateid));
  return found == client->opens.end() ? nullptr : &found->second;
}
LockState* lock_of(StateTables& tables, const nfs4::StateId& stateid) {
  Client* client = tables.find_client_number(wire::load_u32(stateid.other.data() + 4));
  if (!client || client->minorversion != 0) return nullptr;
  const auto found = client->locks.find(number_in(tables, *client, stateid));
  return found == client->locks.end() ? nullptr : &found->second;
}

/// open_to_lock_owner4: the first lock of an owner on a file.
void lock_for_open(const nfs4::LockArgs& args, CompoundCall& call, nfs4::LockResult& result) {
  StateTables& tables = call.state.tables();
  const nfs4::OpenToLockOwner& locker = args.locker.open_owner;
  const bool v40 = call.minorversion == 0;
  const auto stateid = effective_stateid(call, locker.open_stateid);
  if (!stateid) {
    result.status = stateid.error();
    return;
  }
  OpenState* known = v40 ? open_of(tables, *stateid) : nullptr;
  OpenOwner* open_owner = known ? known->owner : nullptr;
  if (open_owner &&
      !admit_seqid(open_owner->sequence, locker.open_seqid, Opnum::OP_LOCK, call, result))
    return;
  const auto open =
      find_state_of<OpenState>(tables, user_of(call), *stateid, &call.current->handle);
  if (!open) {
    result.status = open.error();
  } else {
    Client& client = *(*open)->owner->client;
    LockOwner* owner = find_owner(client, locker.lock_owner.owner);
    Locking locking{args, call, **open, owner, find_lock(owner, **open), locker.lock_owner.owner};
    if (v40 && locker.lock_owner.clientid != client.id) {
      result.status = nfs4::Status::NFS4ERR_BAD_STATEID;
    } else if (v40 && owner &&
               (locking.lock || order_of(owner->sequence, locker.lock_seqid) != SeqidOrder::next)) {
      // RFC 7530 16.10.5: also when the owner has a lock stateid of this open already; a retry was
      // known by the open owner's seqid.
      result.status = nfs4::Status::NFS4ERR_BAD_SEQID;
    } else {
      take_lock(locking, result);
      if (v40 && locking.owner)
        keep_reply(locking.owner->sequence, locker.lock_seqid, Opnum::OP_LOCK, result, call);
    }
  }
  if (open_owner) keep_reply(open_owner->sequence, locker.open_seqid, Opnum::OP_LOCK, result, call);
}

/// What LOCK and LOCKU of a lock stateid have in common. `act` sets the result.
template <class Result, class Act>
void with_lock(const nfs4::StateId& given, std::uint32_t seqid, Opnum operation, CompoundCall& call,
               Result& result, Act&& act) {
  StateTables& tables = call.state.tables();
  const auto stateid = effective_stateid(call, given);
  if (!stateid) {
    result.status = stateid.error();
    return;
  }
  LockState* known = call.minorversion == 0 ? lock_of(tables, *stateid) : nullptr;
  LockOwner* owner = known ? known->owner : nullptr;
  if (owner && !admit_seqid(owner->sequence, seqid, operation, call, result)) return;
  const auto lock =
      find_state_of<LockState>(tables, user_of(call), *stateid, &call.current->handle);
  if (lock) {
    act(**lock);
  } else {
    result.status = lock.error();
  }
  if (owner) keep_reply(owner->sequence, seqid, operation, result, call);
}

}  // namespace

void op_lock(const nfs4::LockArgs& args, CompoundCall& call, nfs4::LockResult& result) {
  if (!call.current) {
    result.status = nfs4::Status::NFS4ERR_NOFILEHANDLE;
  } else if (args.locker.new_lock_owner) {
    lock_for_open(args, call, result);
  } else {
    const nfs4::ExistLockOwner& locker = args.locker.lock_owner;
    with_lock(locker.lock_stateid, locker.lock_seqid, Opnum::OP_LOCK, call, result,
              [&](LockState& lock) {
                Locking locking{args, call, *lock.open, lock.owner, &lock, {}};
                take_lock(locking, result);
              });
  }
}

void op_lockt(const nfs4::LocktArgs& args, CompoundCall& call, nfs4::LocktResult& result) {
  StateTables& tables = call.state.tables();
  const auto object = current_object(call);
  if (!object) {
    result.status = object.error();
    return;
  }
  const auto client = acting_client(call, args.owner.clientid);
  if (!client) {
    result.status = client.error();
    return;
  }
  const auto range = byte_range(args.offset, args.length);
  result.status = check_regular(object->attributes, call.minorversion);
  if (result.status == nfs4::Status::NFS4_OK && !range) result.status = nfs4::Status::NFS4ERR_INVAL;
  if (result.status == nfs4::Status::NFS4_OK && tables.recovery.in_grace())
    result.status = nfs4::Status::NFS4ERR_GRACE;
  const File* file = tables.find_file(call.current->handle);
  if (result.status != nfs4::Status::NFS4_OK || !file) return;
  const LockOwner* owner = find_owner(**client, args.owner.owner);
  if (const LockRange* other = conflicting(*file, owner, *range, is_write(args.locktype))) {
    result.status = nfs4::Status::NFS4ERR_DENIED;
    fill_lock_denied(*other, result.denied);
  }
}

void op_locku(const nfs4::LockuArgs& args, CompoundCall& call, nfs4::LockuResult& result) {
  StateTables& tables = call.state.tables();
  const bool v40 = call.minorversion == 0;
  if (!call.current) {
    result.status = nfs4::Status::NFS4ERR_NOFILEHANDLE;
    return;
  }
  with_lock(args.lock_stateid, args.seqid, Opnum::OP_LOCKU, call, result, [&](LockState& lock) {
    const auto range = byte_range(args.offset, args.length);
    if (!range) {
      result.status = nfs4::Status::NFS4ERR_INVAL;
      return;
    }
    Client& client = *lock.owner->client;
    if (unlock_splits(lock, *range) && !has_room_for_ranges(client, *lock.file)) {
      // RFC 8881 18.10.4: a server need not be able to unlock a part of a range. The client, that
      // would wait for ever with NFS4ERR_DELAY, can still unlock all of it.
      result.status = v40 ? nfs4::Status::NFS4ERR_RESOURCE : nfs4::Status::NFS4ERR_LOCK_RANGE;
      return;
    }
    unlock_range(lock, *range);
    lock.seqid = next_seqid(lock.seqid);
    result.resok4.lock_stateid = tables.stateid(client, lock.number, lock.seqid);
    set_current_stateid(call, result.resok4.lock_stateid);
  });
}

void op_release_lockowner(const nfs4::ReleaseLockownerArgs& args, CompoundCall& call,
                          nfs4::ReleaseLockownerResult& result) {
  StateTables& tables = call.state.tables();
  const auto client = acting_client(call, args.lock_owner.clientid);
  if (!client) {
    result.status = client.error();
    return;
  }
  LockOwner* owner = find_owner(**client, args.lock_owner.owner);
  if (!owner) return;
  const bool holds = std::ranges::any_of(owner->states, [](const LockState* lock) {
    return std::ranges::any_of(lock->file->ranges,
                               [&](const LockRange& range) { return range.state == lock; });
  });
  if (holds) {
    result.status = nfs4::Status::NFS4ERR_LOCKS_HELD;
  } else {
    tables.remove_lock_owner(*owner);
  }
}

}  // namespace steertag::peer
