// The state as the interpreter and the other programs see it.
#include "server/v4/state/nfs4_state.h"

#include <algorithm>
#include <chrono>

#include "nfs/v4/compound.h"
#include "server/v4/state/byte_ranges.h"
#include "server/v4/state/delegations.h"
#include "server/v4/state/layouts.h"
#include "server/v4/state/recalls.h"
#include "server/v4/state/shares.h"
#include "server/v4/state/stateids.h"

namespace steertag::peer {
namespace {

std::uint32_t access_of(const StatePointer& state) {
  struct Visitor {
    std::uint32_t operator()(const OpenState* open) const { return open->access; }
    std::uint32_t operator()(const LockState* lock) const { return lock->open->access; }
    std::uint32_t operator()(const DelegationState*) const { return nfs4::OPEN4_SHARE_ACCESS_READ; }
  };
  return std::visit(Visitor{}, state);
}

/// Whose share reservation the I/O belongs to; nullptr: of a delegation.
const OpenOwner* open_owner_of(const StatePointer& state) {
  struct Visitor {
    const OpenOwner* operator()(const OpenState* open) const { return open->owner; }
    const OpenOwner* operator()(const LockState* lock) const { return lock->open->owner; }
    const OpenOwner* operator()(const DelegationState*) const { return nullptr; }
  };
  return std::visit(Visitor{}, state);
}

/// Whose locks are not in the way; nullptr: all are.
const LockOwner* lock_owner_of(const StatePointer& state) {
  LockState* const* lock = std::get_if<LockState*>(&state);
  return lock ? (*lock)->owner : nullptr;
}

bool confirmed(const StatePointer& state) {
  OpenState* const* open = std::get_if<OpenState*>(&state);
  return !open || (*open)->owner->confirmed;
}

/// I/O without an open (RFC 7530 9.1.4.3, RFC 8881 8.2.3).
nfs4::Status check_special(StateTables& tables, const nfs4::StateId& stateid, const Handle& file,
                           AccessMode want) {
  if (is_read_bypass(stateid) && want == AccessMode::read) return nfs4::Status::NFS4_OK;
  // RFC 8881 8.4.2.1: a client may still reclaim an open that denies it.
  if (tables.recovery.in_grace()) return nfs4::Status::NFS4ERR_GRACE;
  const File* found = tables.find_file(file);
  const std::uint32_t access =
      want == AccessMode::write ? nfs4::OPEN4_SHARE_ACCESS_WRITE : nfs4::OPEN4_SHARE_ACCESS_READ;
  return found && denied_to(*found, nullptr, access) ? nfs4::Status::NFS4ERR_LOCKED
                                                     : nfs4::Status::NFS4_OK;
}

/// Whether another owner has locked a part of the range, where such a lock is mandatory.
bool is_locked(StateTables& tables, const Handle& file, const LockOwner* owner,
               std::optional<ByteRange> range, AccessMode want) {
  if (!tables.options.mandatory_locks || !range) return false;
  const File* found = tables.find_file(file);
  return found && conflicting(*found, owner, *range, want == AccessMode::write);
}

/// Operations with these statuses were not executed. RFC 8881 2.10.6.1.3: the retry of what is
/// illegal gets the same again.
bool is_illegal(nfs4::Status status) {
  return status == nfs4::Status::NFS4ERR_OP_ILLEGAL || status == nfs4::Status::NFS4ERR_NOTSUPP ||
         status == nfs4::Status::NFS4ERR_BADXDR;
}

/// What answers a retry of a request that was not cached: its SEQUENCE, and for the operation after
/// that NFS4ERR_RETRY_UNCACHED_REP (RFC 8881 2.10.6.1.3).
Bytes uncached_reply(View results) {
  wire::Reader reader(results);
  nfs4::CompoundResult compound;
  compound.decode(reader);
  nfs4::OperationReader<nfs4::Opnum> operations(reader, "resarray");
  operations.next();
  nfs4::SequenceResult sequence;
  sequence.decode(reader);
  const auto second = operations.next();
  const auto status = static_cast<nfs4::Status>(second ? reader.u32("status") : 0U);
  Bytes reply;
  nfs4::ReplyWriter<nfs4::Opnum> writer(reply, compound.tag);
  writer.add(nfs4::Opnum::OP_SEQUENCE, sequence);
  if (second)
    writer.add_status(*second,
                      is_illegal(status) ? status : nfs4::Status::NFS4ERR_RETRY_UNCACHED_REP);
  return reply;
}

/// With the octets of items in memory of their own, so that the cache holds nothing of the storage.
void copy_results(ReplyPayload& from, ReplyPayload& to) {
  const View stream(from.stream());
  std::size_t done = 0;
  std::vector<View> parts;
  for (const ReplyPayload::Item& item : from.items()) {
    to.stream().insert(to.stream().end(), stream.begin() + static_cast<std::ptrdiff_t>(done),
                       stream.begin() + static_cast<std::ptrdiff_t>(item.at));
    done = item.at;
    const auto octets = std::make_shared<Bytes>();
    parts.clear();
    from.item_parts(item, parts);
    for (const View part : parts) octets->insert(octets->end(), part.begin(), part.end());
    const std::size_t first_slice = to.slices().size();
    to.slices().push_back({View(*octets), octets});
    to.add_item(first_slice, item.length);
  }
  to.stream().insert(to.stream().end(), stream.begin() + static_cast<std::ptrdiff_t>(done),
                     stream.end());
}

}  // namespace

Nfs4State::Nfs4State(Nfs4StateOptions options)
    : tables_(std::make_unique<StateTables>(std::move(options))) {}
Nfs4State::~Nfs4State() = default;

nfs4::Status Nfs4State::check_io(std::uint32_t minorversion, std::optional<std::uint64_t> client,
                                 const nfs4::StateId& stateid, const Handle& file, AccessMode want,
                                 std::optional<ByteRange> range) {
  std::optional<ClientId> actor = client;
  const LockOwner* locker = nullptr;
  if (is_anonymous(stateid) || is_read_bypass(stateid)) {
    const nfs4::Status status = check_special(*tables_, stateid, file, want);
    if (status != nfs4::Status::NFS4_OK) return status;
  } else {
    const auto state = find_state(*tables_, {minorversion, client}, stateid);
    if (!state) return state.error();
    if (file_of(*state).handle != file || !confirmed(*state))
      return nfs4::Status::NFS4ERR_BAD_STATEID;
    const std::uint32_t access = access_of(*state);
    // RFC 8881 9.1.2: a READ goes with an open for writing, since a client may have to read the
    // blocks that it writes a part of. What another open denies has to be checked nevertheless.
    if (want == AccessMode::write && (access & nfs4::OPEN4_SHARE_ACCESS_WRITE) == 0)
      return nfs4::Status::NFS4ERR_OPENMODE;
    if (want == AccessMode::read && (access & nfs4::OPEN4_SHARE_ACCESS_READ) == 0 &&
        denied_to(file_of(*state), open_owner_of(*state), nfs4::OPEN4_SHARE_ACCESS_READ))
      return nfs4::Status::NFS4ERR_LOCKED;
    if (minorversion == 0) renew(*tables_, client_of(*state));
    actor = client_of(*state).id;
    locker = lock_owner_of(*state);
  }
  // RFC 8881 8.4.2.1: a client may still reclaim a lock that stops it.
  if (tables_->options.mandatory_locks && range && in_grace()) return nfs4::Status::NFS4ERR_GRACE;
  if (is_locked(*tables_, file, locker, range, want)) return nfs4::Status::NFS4ERR_LOCKED;
  return want == AccessMode::write && recall_for(file, actor, want) ? nfs4::Status::NFS4ERR_DELAY
                                                                    : nfs4::Status::NFS4_OK;
}

bool Nfs4State::has_mandatory_locks(const Handle& file) const {
  const File* found = tables_->options.mandatory_locks ? tables_->find_file(file) : nullptr;
  return found && !found->ranges.empty();
}

bool Nfs4State::recall_for(const Handle& file, std::optional<std::uint64_t> client,
                           AccessMode want) {
  if (want == AccessMode::read) return false;  // only read delegations are granted
  File* found = tables_->find_file(file);
  return found && recall_delegations(*tables_, *found, client);
}

bool Nfs4State::recall_layouts(const Handle& file, std::optional<std::uint64_t> client) {
  File* found = tables_->find_file(file);
  return found && peer::recall_layouts(*tables_, *found, client);
}

nfs4::Status Nfs4State::check_change(const Handle& file, std::optional<std::uint64_t> client) {
  // RFC 8881 8.4.2.1: which files the clients had open is not known before they have reclaimed.
  if (tables_->recovery.in_grace()) return nfs4::Status::NFS4ERR_GRACE;
  if (recall_for(file, client, AccessMode::write)) return nfs4::Status::NFS4ERR_DELAY;
  // RFC 8881 13.9.2.3: data servers may know the file by rights that it is about to lose.
  if (File* found = tables_->find_file(file)) tables_->fence(*found);
  return nfs4::Status::NFS4_OK;
}

bool Nfs4State::denies_removal(const Handle& file) const {
  const File* found = tables_->find_file(file);
  return found && denied_to(*found, nullptr, nfs4::OPEN4_SHARE_ACCESS_WRITE);
}

void Nfs4State::forget_file(const Handle& file) {
  if (File* found = tables_->find_file(file)) tables_->remove_file(*found);
}

void Nfs4State::end_sequence(const SlotInUse& slot, ReplyPayload results) {
  // DESTROY_SESSION may have been part of the COMPOUND.
  Session* session = tables_->find_session(slot.session);
  if (!session) return;
  Slot& used = session->slots[slot.slot];
  used.under_way = false;
  used.reply.clear();
  const std::size_t most = slot.cachethis ? session->fore.ca_maxresponsesize_cached : kSmallReply;
  if (results.size() <= most) {
    copy_results(results, used.reply);
  } else {
    used.reply.stream() = uncached_reply(results.stream());
  }
}

void Nfs4State::expire() {
  const TimePoint now = tables_->now();
  if (now < tables_->next_expiry) return;
  tables_->next_expiry = now + kExpiryPause;
  tables_->recovery.check(now);
  std::vector<Client*> over;
  // Ends at the first client whose lease goes on: no more than what is due is looked at.
  for (Client* client : tables_->by_renewal) {
    if (!tables_->lease_over(*client)) break;
    over.push_back(client);
  }
  if (!over.empty()) tables_->cancel_leases(over);
  process_recalls(*tables_);
  tables_->end_contentions();
}

bool Nfs4State::in_grace() const {
  return tables_->recovery.in_grace();
}

void Nfs4State::hold_grace(bool held) {
  tables_->recovery.hold(held);
}

const Fence* Nfs4State::fence() const {
  return tables_->options.fence.get();
}

std::chrono::seconds Nfs4State::lease() const {
  return tables_->options.lease;
}

void Nfs4State::lengthen_lease(std::chrono::milliseconds least) {
  std::chrono::seconds& lease = tables_->options.lease;
  lease = std::max(lease, std::chrono::ceil<std::chrono::seconds>(least));
}

}  // namespace steertag::peer
