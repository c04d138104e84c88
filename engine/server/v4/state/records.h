// The server's records of one client: its owners, opens, locks and delegations.
// And of one file: who has it open, locked, delegated or laid out.
#pragma once

#include <array>
#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "nfs/v4/callbacks.h"
#include "nfs/v4/operations.h"
#include "server/storage/backend.h"
#include "server/v4/state/fence.h"
#include "server/v4/state/limits.h"

namespace steertag::peer {

using TimePoint = std::chrono::steady_clock::time_point;
using ClientId = std::uint64_t;
/// Second part of a stateid's `other`, unique in this run of the server.
using StateNumber = std::uint32_t;

struct Client;
struct OpenOwner;
struct OpenState;
struct LockState;
struct DelegationState;
struct LayoutState;

/// A locked range of a file. `last` is the last octet, all ones for the end of every file.
struct LockRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool write = false;
  LockState* state = nullptr;
};

/// A file that some client has state on. Kept only as long as that is so.
struct File {
  Handle handle{};
  std::vector<OpenState*> opens;
  std::vector<LockRange> ranges;
  std::vector<DelegationState*> delegations;
  std::vector<LayoutState*> layouts;  // one a client at most
  TimePoint contended_until{};        // no delegations before
  DataServerMask granted = 0;         // data servers that may let a client read or write

  bool idle(TimePoint now) const {
    return opens.empty() && ranges.empty() && delegations.empty() && layouts.empty() &&
           contended_until <= now;
  }
};

/// The last reply to an owner of minor version 0, for its retry (RFC 7530 9.1.7).
struct SavedReply {
  nfs4::Opnum operation = nfs4::Opnum::OP_ILLEGAL;
  Bytes result;                   // encoded
  std::optional<Handle> current;  // the filehandle that OPEN left
};

/// seqid of an owner of minor version 0.
struct OwnerSequence {
  std::uint32_t seqid = 0;
  std::optional<SavedReply> reply;
};

struct OpenOwner {
  Client* client = nullptr;
  std::string name;
  bool confirmed = false;  // by OPEN_CONFIRM; always in minor version 1
  OwnerSequence sequence;
  std::vector<OpenState*> opens;
  StateNumber last_closed = 0;  // for the retry of a CLOSE
  TimePoint used{};
};

struct OpenState {
  StateNumber number = 0;
  std::uint32_t seqid = 0;
  OpenOwner* owner = nullptr;
  File* file = nullptr;
  std::uint32_t access = 0;
  std::uint32_t deny = 0;
  std::uint16_t combinations = 0;  // bit access + 4 * deny for each OPEN, as OPEN_DOWNGRADE asks
  std::vector<LockState*> locks;
};

struct LockOwner {
  Client* client = nullptr;
  std::string name;
  OwnerSequence sequence;
  std::vector<LockState*> states;
};

struct LockState {
  StateNumber number = 0;
  std::uint32_t seqid = 0;
  LockOwner* owner = nullptr;
  OpenState* open = nullptr;
  File* file = nullptr;
};

/// What a client gives back when it is recalled, and how far its recall is.
struct RecallableState {
  nfs4::CbOpnum callback = nfs4::CbOpnum::OP_CB_RECALL;  // the one that recalls it
  StateNumber number = 0;
  std::uint32_t seqid = 1;
  Client* client = nullptr;
  File* file = nullptr;
  std::optional<TimePoint> recalled;  // when the recall was decided; it is revoked a lease later
  bool calling = false;               // the callback is under way
  bool needs_other_session = false;   // its own has no connection
  bool recall_done = false;           // answered with NFS4_OK, or kMostRecallTries times
  std::uint32_t tries = 0;
  TimePoint next_try{};
  // The request that granted it (RFC 8881 2.10.6.3); sequence 0: none of a session.
  nfs4::SessionId granting_session{};
  std::uint32_t granting_slot = 0;
  std::uint32_t granting_sequence = 0;
};

/// A read delegation.
struct DelegationState : RecallableState {};

/// A part of a file that a client may read, or write too, at the data servers. `last` is the last
/// octet, all ones for the end of every file.
struct LayoutRange {
  nfs4::LayoutIomode iomode = nfs4::LayoutIomode::LAYOUTIOMODE4_READ;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// The layouts that a client has of a file. They have one stateid, whose seqid counts what
/// LAYOUTGET and LAYOUTRETURN give and CB_LAYOUTRECALL takes (RFC 8881 12.5.3).
struct LayoutState : RecallableState {
  nfs4::DeviceId device{};          // that it names
  std::vector<LayoutRange> ranges;  // of one iomode they do not overlap
};

/// CB_LAYOUTRECALL of all layouts that a client has, or has of a file system. `file` is none.
struct BulkRecall : RecallableState {
  nfs4::LayoutrecallType type = nfs4::LayoutrecallType::LAYOUTRECALL4_ALL;
  nfs4::Fsid fsid{};
  bool changed = false;  // clora_changed
};

/// What a client has asked to hear of a device (RFC 8881 18.40.3).
struct DeviceInterest {
  bool change = false;
  bool deletion = false;
  bool is_deleted = false;  // as soon as no layout of the client names it
};

/// A CB_NOTIFY_DEVICEID that has no answer yet. `file` is none.
struct DeviceNotice : RecallableState {
  nfs4::DeviceId device{};
  std::uint32_t type = 0;  // a number of notify_deviceid_type4
};

/// What the clients of one host have together, so that no host can shut the others out.
struct HostUsage {
  std::size_t clients = 0;  // records
  std::size_t states = 0;
  std::size_t owner_bytes = 0;
  std::size_t cached_bytes = 0;
};

/// A client record (RFC 7530 16.33.5, RFC 8881 18.35.4), which owns all state of the client.
struct Client {
  ClientId id = 0;
  std::uint32_t minorversion = 0;
  std::string owner;  // client.id, co_ownerid
  nfs4::Verifier verifier{};
  std::uint32_t principal = 0;  // the uid that made the record
  bool confirmed = false;
  TimePoint renewed{};
  std::list<Client*>::iterator place{};  // in the order of renewals
  std::string host;                      // that the record came from
  HostUsage* host_usage = nullptr;       // of that host; lives as long as the record

  // Minor version 0.
  nfs4::Verifier confirm{};
  std::optional<nfs4::Verifier> update;  // an unconfirmed change of the callback location
  std::string netid;
  std::string address;

  // Minor version 1.
  std::uint32_t flags = 0;                 // eir_flags
  std::uint32_t create_sequence = 0;       // the slot of CREATE_SESSION
  nfs4::CreateSessionResult create_reply;  // what it holds
  std::vector<nfs4::SessionId> sessions;
  std::uint32_t status_flags = 0;  // SEQ4_STATUS_RESTART_RECLAIM_NEEDED until RECLAIM_COMPLETE

  bool reclaim_complete = false;
  bool recorded = false;  // in the recovery file
  std::map<std::string, OpenOwner, std::less<>> open_owners;
  std::map<std::string, LockOwner, std::less<>> lock_owners;
  std::unordered_map<StateNumber, OpenState> opens;
  std::unordered_map<StateNumber, LockState> locks;
  std::unordered_map<StateNumber, DelegationState> delegations;
  std::unordered_map<StateNumber, LayoutState> layouts;
  std::unordered_map<StateNumber, OpenOwner*> closed;  // last_closed of its owners
  std::optional<BulkRecall> bulk;
  std::map<nfs4::DeviceId, DeviceInterest> interests;
  std::unordered_map<StateNumber, DeviceNotice> notices;
  std::unordered_set<StateNumber> revoked;  // delegations and layouts, until FREE_STATEID
  std::size_t range_count = 0;

  std::size_t state_count() const {
    return opens.size() + locks.size() + delegations.size() + layouts.size();
  }
  bool holds_state() const { return state_count() + revoked.size() > 0; }
};

/// Octets as text, for names that are compared.
inline std::string_view text_of(View octets) {
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}
inline View octets_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

struct OctetsHash {
  template <std::size_t kSize>
  std::size_t operator()(const std::array<std::byte, kSize>& octets) const {
    return std::hash<std::string_view>{}(text_of(octets));
  }
};

}  // namespace steertag::peer
