// A client's decisions about its transport, its sessions and its callbacks. The defaults conform.
#pragma once

#include <cstdint>

#include "endpoint/block_frame.h"
#include "fabric/roce/packets/policy.h"
#include "nfs/v4/status.h"

namespace steertag::peer {

/// When memory that a call has offered is closed to the server (RFC 8166 4.4.1, 8.1).
struct MemoryPolicy {
  bool closes_after_reply = true;
  bool closes_after_error = true;
  bool clears_flag = true;  // R, where memory stays open over calls (RFC 8797 4.1)
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
  bool delays_any_referral = false;     // also of calls that are not under way (2.10.6.3)
  std::uint32_t most_operations = kMostCallbackOperations;
  nfs4::Status bad_slot_status = nfs4::Status::NFS4ERR_BADSLOT;
  nfs4::Status second_sequence_status = nfs4::Status::NFS4ERR_SEQUENCE_POS;
};

struct SessionPolicy {
  bool destroys_in_session = true;  // DESTROY_SESSION behind SEQUENCE (RFC 8881 18.37.3)
  HandleQuery created_handle = HandleQuery::behind_open;
  CallbackPolicy callbacks{};
};

}  // namespace steertag::peer
