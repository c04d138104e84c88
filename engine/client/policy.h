// A client's decisions about its transport, its sessions and its callbacks. The defaults conform.
#pragma once

#include <chrono>
#include <cstdint>

#include "client/rdma/reconnect_pause.h"
#include "endpoint/block_frame.h"
#include "endpoint/region_pool.h"
#include "fabric/roce/packets/policy.h"
#include "nfs/v4/status.h"

namespace steertag::peer {

/// When memory that a call has offered is closed to the server (RFC 8166 4.4.1, 8.1).
struct MemoryPolicy {
  bool closes_after_reply = true;
  bool closes_after_error = true;
  bool closes_others = true;      // false: what a Send with Invalidate does not name stays open
  bool closes_long_calls = true;  // false: position-zero chunks stay open after the reply
  bool closes_unused = true;      // false: so do reply chunks, after a reply in the Send
  // Where it stays open over calls (docs/direct-access.md):
  bool clears_flag = true;             // R (RFC 8797 4.1)
  bool closes_after_fault = true;      // false: it stays open after a reply that breaks a rule
  bool closes_with_connection = true;  // false: the next connection has it too
  bool closes_after_timeout = true;    // false: it stays open, and the connection up
  bool refuses_invalidation = true;    // false: a Send with Invalidate is taken
  RegistrationPolicy registration{};
};

/// Which data of a reply goes to a pre-posted buffer (docs/direct-access.md).
struct PlacementPolicy {
  bool compares_xid = true;     // false: the buffer is that of the oldest call
  bool compares_length = true;  // of the message with what its head says
};

/// What of a reply is compared with its call (RFC 8166 3.4.6, 6.1).
struct ReplyPolicy {
  bool compares_segments = true;   // handles and offsets of returned chunks
  bool compares_length = true;     // of a write chunk with its result; false: it counts as filled
  bool refuses_inline = true;      // an eligible result despite its write chunk
  bool refuses_ineligible = true;  // octets in the write chunk of an empty result
};

struct RequesterPolicy {
  std::uint32_t error_retries = 0;  // times that a call is made anew after RDMA_ERROR
  bool keeps_idle = true;           // false: the connection is closed when no call is under way
  bool keeps_xid = true;  // false: a call that is sent again on another connection gets a new one
  /// After the first connection that did not come up (ReconnectPause).
  std::chrono::milliseconds reconnect_pause = kShortestReconnectPause;
  MemoryPolicy memory{};
  ReplyPolicy reply{};
  PlacementPolicy placement{};
};

/// Optimistic reads (docs/direct-access.md).
struct OptimisticPolicy {
  FrameChecks checks{};
  bool reports_faults = false;  // true: a Read that failed is an error of its user
  bool asks_once = true;        // false: what a Read did not give is asked for by two RPCs
  bool answers_lost = true;     // false: Reads in flight at the end of their connection stay so
  bool drops_lost = true;       // false: the user gets what their sinks hold
  bool ends_alone = true;       // false: the RPC connection ends with the optimistic one
  bool limits_hellos = true;    // false: HELLO follows each end at once
  bool forgets_closed = true;   // false: references of a file serve its next OPEN
  bool heeds_recalls = true;    // false: references outlive the recall of the file's delegation
  bool checks_offsets = true;   // false: a reference may begin inside of a block
  bool evicts = true;           // false: a full directory of references is an error of the user
  bool uses_nfs = true;         // false: what the program does not give is an error of the user
  fabric::roce::Policy roce{};  // of the optimistic connection
};

/// How the filehandle of a file is asked for that OPEN creates (RFC 8881 2.10.6.4).
enum class HandleQuery : std::uint8_t {
  behind_open,
  last,   // in the same COMPOUND
  apart,  // by LOOKUP
};

/// ca_maxoperations of the backchannel: CB_SEQUENCE and what one event may give cause to.
inline constexpr std::uint32_t kMostCallbackOperations = 8;

/// The backchannel (RFC 8881 20.9.3).
struct CallbackPolicy {
  bool needs_sequence = true;
  bool compares_session = true;
  bool compares_sequence = true;        // csa_sequenceid with that of the slot
  bool compares_first_sequence = true;  // of a slot without an earlier call
  bool keeps_replies = true;            // false: a retry is executed
  bool keeps_slots = true;              // false: they begin anew with each connection
  bool delays_any_referral = false;     // also of calls that are not under way (2.10.6.3)
  bool heeds_referrals = true;          // false: not even of those
  bool heeds_all_referrals = true;      // false: of the first call of each list
  bool compares_minor_version = true;   // false: those of any minor version are executed
  bool ends_at_error = true;            // false: what is behind an operation that fails is executed
  std::uint32_t most_operations = kMostCallbackOperations;
  nfs4::Status bad_slot_status = nfs4::Status::NFS4ERR_BADSLOT;
  nfs4::Status second_sequence_status = nfs4::Status::NFS4ERR_SEQUENCE_POS;
};

/// Layouts and their recall (RFC 8881 12.5, 20.3).
struct LayoutPolicy {
  bool compares_type = true;  // of a layout with the one that was asked for
  bool checks_role = true;    // false: layouts are asked for without USE_PNFS_MDS
  bool asks_once = true;      // false: a second LAYOUTGET follows, by the stateid of the OPEN
  bool heeds_iomode = true;   // false: a layout for reading serves WRITE
  bool heeds_pattern_offset = true;  // false: it counts as 0
  bool heeds_end = true;             // false: a range ends where its last stripe unit ends
  bool heeds_packing = true;         // false: dense packing counts as sparse
  bool heeds_commit_place = true;    // false: NFL4_UFLG_COMMIT_THRU_MDS counts as its opposite
  bool heeds_handles = true;         // false: the first handle serves all data servers
  bool refuses_faults = true;        // false: what breaks RFC 8881 13.3 is used in some way
  bool heeds_loss = true;            // false: layouts outlive restart and revocation
  bool commits_first = true;         // false: LAYOUTCOMMIT follows LAYOUTRETURN
  bool commits_at_all = true;        // false: there is no LAYOUTCOMMIT
  bool returns_at_close = true;      // false: the layout is held behind the last close
  bool waits_for_io = true;          // false: LAYOUTRETURN overtakes READs and WRITEs
  bool stops_at_return = true;       // false: a layout that goes back is used further
  bool returns_recalled = true;      // false: a recall is answered, and nothing goes back
  bool echoes_recall = true;         // false: the return has the stateid from before the recall
  bool waits_for_layoutget =
      true;                     // false: a recall finds no layout before the reply that grants it
  bool orders_recalls = true;   // false: any seqid of lor_stateid will do
  bool returns_at_once = true;  // false: after a bulk recall each file goes back for itself
  nfs4::Status no_layout_status = nfs4::Status::NFS4ERR_NOMATCHING_LAYOUT;
};

/// Data servers (RFC 8881 13).
struct DataServerPolicy {
  bool heeds_lease = true;           // false: I/O goes on when the lease may be over
  bool checks_role = true;           // false: EXCHGID4_FLAG_USE_PNFS_DS need not come back
  bool checks_netids = true;         // false: an address of any netid is one of RDMA
  bool reads_ports = true;           // false: the octets of a port are taken in the other order
  bool reads_ipv6 = true;            // false: an IPv6 address is none
  bool tries_all_addresses = true;   // false: the first of a list alone
  bool forgets_dead_devices = true;  // false: GETDEVICEINFO is not asked again
  bool heeds_changes = true;         // false: CB_NOTIFY_DEVICEID changes nothing
  bool by_open_stateid = true;       // false: READ and WRITE carry the layout stateid
  bool compares_verifiers = true;    // false: a COMMIT is good whatever WRITEs said
  bool stable_elsewhere = true;      // false: UNSTABLE4 at the metadata server for one that is lost
  bool survives_loss = true;         // false: a dead data server is an error of the user
  bool turns_back = true;            // false: what a data server refuses is an error of the user
  bool fills_holes = true;           // false: a READ that ends early is the end of the file
  bool heeds_slots = true;           // false: as many slots as were asked for
  bool renews_sessions = true;       // false: a session that is lost is used further
  /// From the failure of the last address to the next try of the first. Meanwhile its octets go to
  /// the metadata server.
  std::chrono::milliseconds pause{30'000};
};

struct SessionPolicy {
  bool destroys_in_session = true;  // DESTROY_SESSION behind SEQUENCE (RFC 8881 18.37.3)
  bool repeats_refused = true;      // false: a sequence id that SEQUENCE put off counts as used
  bool leaves_unanswered = true;    // false: the slot of a call without a reply is used again
  bool numbers_sessions = true;     // false: each CREATE_SESSION has the csa_sequence of the first
  bool completes_again = true;      // false: RECLAIM_COMPLETE for the first client ID alone
  HandleQuery created_handle = HandleQuery::behind_open;
  bool heeds_later_sizes = true;  // false: the sizes of the first session count for all
  CallbackPolicy callbacks{};
  LayoutPolicy layouts{};
  DataServerPolicy data_servers{};
};

}  // namespace steertag::peer
