// All state of the NFSv4 server: clients, sessions, opens, locks, delegations, layouts.
// It knows neither network nor storage; files are their handles.
#pragma once

#include <memory>
#include <optional>

#include "endpoint/deadline_clock.h"
#include "nfs/v4/operations.h"
#include "server/policy.h"
#include "server/rdma/reply_payload.h"
#include "server/storage/permission.h"
#include "server/v4/compound_call.h"
#include "server/v4/state/byte_range.h"
#include "server/v4/state/fence.h"
#include "server/v4/state/limits.h"

namespace steertag::peer {

struct StateTables;

struct Nfs4StateOptions {
  DeadlineClock clock;
  /// Gives boot instance, session ids and confirm verifiers; must differ from start to start.
  std::function<std::uint64_t()> random;
  std::chrono::seconds lease = kLeaseTime;
  /// Slots of a session at most, however many credits its connection has; up to kMostOfferedSlots.
  /// A call with a slot but no credit waits at the client. 0: as many as credits, and kMostSlots.
  std::uint32_t slots = 0;
  /// File that names the clients with state, so that they can reclaim it after a restart. With ""
  /// there is no file, no grace period and nothing to reclaim.
  std::string recovery_path;
  /// Of a metadata server whose data servers are processes of their own; none: nothing to take
  /// away.
  std::shared_ptr<Fence> fence{};
  /// Whether the last CLOSE of a client returns its layouts of the file.
  bool layouts_end_at_close = true;
  /// Whether byte-range locks stop READ and WRITE of other owners (RFC 8881 9.1.2).
  bool mandatory_locks = false;
  StatePolicy policy{};
};

class Nfs4State {
 public:
  explicit Nfs4State(Nfs4StateOptions options);
  ~Nfs4State();
  Nfs4State(const Nfs4State&) = delete;
  Nfs4State& operator=(const Nfs4State&) = delete;

  /// Whether READ, WRITE or SETATTR of the size may go on with this stateid (resolve a "current
  /// stateid" first): `want` is read or write. `client` is CompoundCall::clientid. NFS4_OK, or
  /// NFS4ERR_BAD_STATEID, OLD_STATEID, STALE_STATEID, EXPIRED, DELEG_REVOKED, OPENMODE, LOCKED or
  /// GRACE (RFC 7530 9.1.4, RFC 8881 8.2). NFS4ERR_DELAY while a delegation of another client is
  /// recalled. In minor version 0 it renews the lease of the stateid's client. No octet of `range`,
  /// if there is one, may be locked by another owner where locks are mandatory.
  nfs4::Status check_io(std::uint32_t minorversion, std::optional<std::uint64_t> client,
                        const nfs4::StateId& stateid, const Handle& file, AccessMode want,
                        std::optional<ByteRange> range = {});

  /// Whether some octets of the file are locked, and locks are mandatory.
  bool has_mandatory_locks(const Handle& file) const;

  /// Call before anything that conflicts with a delegation of this file, unless check_io or
  /// check_change does. These are REMOVE, RENAME (of the source and of what it replaces), LINK,
  /// SETATTR and WRITE. True when another client than `client` has one. It is being recalled then.
  /// The answer is NFS4ERR_DELAY (NFS3ERR_JUKEBOX) until it is back or revoked. `client` is nullopt
  /// in NFSv3 and where the client is not known (RFC 8881 10.4.4).
  bool recall_for(const Handle& file, std::optional<std::uint64_t> client, AccessMode want);

  /// Call before the file loses its last name or a part of its octets. True when another client
  /// than `client` has layouts of it, which are recalled. The answer is NFS4ERR_DELAY until they
  /// are back or revoked (RFC 8881 12.5.5).
  bool recall_layouts(const Handle& file, std::optional<std::uint64_t> client);

  /// Whether a regular file may get or lose a name, or get other attributes than its size. NFS4_OK,
  /// NFS4ERR_GRACE while a client may still reclaim an open or a delegation of it, NFS4ERR_DELAY
  /// while `recall_for` waits. Recalls nothing in the first two cases.
  nfs4::Status check_change(const Handle& file, std::optional<std::uint64_t> client);

  /// Whether an open of the file denies writing, so that no name of it may be removed:
  /// NFS4ERR_FILE_OPEN (RFC 7530 16.26.5, RFC 8881 18.25.4). The operations that remove names have
  /// no owner, so that every open belongs to another owner.
  bool denies_removal(const Handle& file) const;

  /// The object is gone for good. Its opens, locks, delegations and layouts end with it. The
  /// operations that give them back need its filehandle, which no client can make the current one
  /// any more.
  void forget_file(const Handle& file);

  /// Call once at the end of a COMPOUND whose SEQUENCE gave `slot` without `replay`. Keeps
  /// `results`, its COMPOUND4res with items, for a retry; or the fact that it was not kept.
  void end_sequence(const SlotInUse& slot, ReplyPayload results);

  /// Removes clients whose lease is over, revokes what was recalled and not returned, sends waiting
  /// callbacks, ends the grace period. Cheap; call it from poll.
  void expire();

  bool in_grace() const;
  /// The grace period does not end before its time until this is taken back.
  void hold_grace(bool held);
  std::chrono::seconds lease() const;
  /// The lease is at least this one.
  void lengthen_lease(std::chrono::milliseconds least);

  /// nullptr: no data server has to be asked.
  const Fence* fence() const;

  /// What the handlers of the state operations work with.
  StateTables& tables() { return *tables_; }

 private:
  std::unique_ptr<StateTables> tables_;
};

}  // namespace steertag::peer
