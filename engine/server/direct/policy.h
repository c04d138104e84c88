// What the reference server may decide about references and tickets of direct access.
// The defaults conform to docs/direct-access.md.
#pragma once

#include <cstddef>
#include <optional>

#include "server/storage/backend.h"

namespace steertag::peer {

/// Octets that one base is behind the one before, where bases count, or grow by less.
inline constexpr std::uint64_t kBaseStep = 1U << 20;
/// By which one STag is above the one before, where STags count.
inline constexpr std::uint32_t kStagStep = 1U << 8;
/// Where bases follow from STags: they are shifted by so many bits.
inline constexpr unsigned kBaseShift = 16;

/// Which STag and base a new frame gets.
enum class PlaceChoice : std::uint8_t {
  random,
  bases_in_a_row,  // each base is kBaseStep behind the one before
  growing_bases,   // each is behind the one before, by a random step
  stags_in_a_row,  // each STag is kStagStep above the one before
  bases_of_stags,  // the base is the STag, shifted by kBaseShift
  returned,        // those of a frame that was given back, if there is one
};

struct RevocationPolicy {
  std::optional<ContentChange> unseen{};  // a change that revokes nothing
  bool wipes_data = true;                 // false: the first generation alone
  bool keeps_memory = true;               // false: a revoked frame is closed at once
  bool seals_half = false;                // true: the frame is valid again, with other octets
};

struct GrantPolicy {
  PlaceChoice places = PlaceChoice::random;
  bool own_domains = true;        // false: all users share one protection domain
  bool binds_windows = true;      // false: frames are open to all connections of the domain
  bool own_frames = true;         // false: a wiped frame takes another block
  bool fresh_generations = true;  // false: a frame is granted again with its old generation
  bool read_only = true;          // false: frames can be written remotely
  bool ends_with_user = true;     // false: frames of an ended user stay open for their lease
  std::size_t octets_behind = 0;  // of memory behind a frame that its STag covers too
  bool checks_refs = true;        // false: REFS grants whoever may read
  bool clears_memory = true;      // false: zeros at the end of a block are other octets
  bool follows_sessions = true;   // false: those of an ended session stay
  bool follows_clients = true;    // false: those of an ended client stay
  bool follows_leases = true;     // false: those of a client whose lease is over stay
  bool keeps_limits = true;       // false: a user gets any number of frames
  bool returns_memory = true;     // false: that of ended users stays counted as on loan
  bool closes_returned = true;    // false: a frame that was given back stays open
  bool serves_others = true;      // false: no READ while another user has all its frames
};

struct TicketPolicy {
  std::size_t uses = 1;
  bool checks = true;         // false: any ticket of the host opens a connection
  bool checks_host = true;    // false: a ticket is good from any host
  bool lapses = true;         // false: a ticket has no lease
  bool refuses_sends = true;  // false: the optimistic connection has a receive
  bool ends_alone = true;     // false: a fault on one optimistic connection ends all
};

/// What RDMA Reads of frames bring about beside their octets.
struct ReadPolicy {
  bool renews_lease = false;   // true: the lease of the client of NFS version 4
  bool touches_files = false;  // true: time_access of the files that their user has references to
};

/// Faults of Reads, where the provider has recoverable refusals.
struct FaultPolicy {
  bool needs_word = true;  // false: clients that did not ask get refusals too
  bool recovers = true;    // false: a fault ends the connection although both sides agreed
};

struct DirectPolicy {
  RevocationPolicy revocation{};
  GrantPolicy grants{};
  TicketPolicy tickets{};
  ReadPolicy reads{};
  FaultPolicy faults{};
  /// A stale reference is refused alone, where the client and the provider know that too: its
  /// memory is closed when it is revoked (docs/direct-access.md).
  bool recoverable_faults = false;
};

}  // namespace steertag::peer
