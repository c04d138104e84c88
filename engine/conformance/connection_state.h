// The judge's state of one connection: thresholds, and each direction's calls, credits and memory.
#pragma once

#include <array>
#include <optional>

#include "conformance/call_table.h"
#include "conformance/credits.h"
#include "conformance/findings.h"
#include "conformance/pending_reads.h"
#include "conformance/segment_table.h"
#include "conformance/visibility.h"
#include "trace/event.h"
#include "wire/private_data.h"

namespace steertag::conformance {

/// The transactions whose calls one side sends. Forward: the client is the requester (RFC 8167 2).
struct Direction {
  CallTable calls;
  SegmentTable segments;
  Credits credits;
  PendingReads reads;           // of the responder
  bool responses_seen = false;  // the requester's Read Responses show up as events
  bool used = false;            // a call was sent
  bool history_incomplete =
      false;                // something was not seen, or does not fit: absence proves nothing
  std::size_t entries = 0;  // list entries of the messages that `calls` holds

  /// The segments of `call.header` may be accessed from now on.
  void add_segments(Call& call);
  /// The call was answered, and frees its credit.
  void release_credit(Call& call);
  /// Drops the call and the memory that it offered.
  void retire(Call& call);
  /// Approximate size of the calls and their lists.
  std::size_t kept_bytes() const;
  /// Drops everything except `used`.
  void forget_history();
};

/// Receives that one side posted. Known for our own side only.
struct Receives {
  bool known = false;  // posting was seen before the first Send
  std::uint64_t posted = 0;
  std::uint64_t taken = 0;  // Sends that arrived

  std::uint64_t left() const { return posted > taken ? posted - taken : 0; }
};

struct Connection {
  explicit Connection(Visibility what) : visibility(what) {}

  Visibility visibility;
  Findings findings;
  bool connect_seen = false;
  bool accept_seen = false;
  bool sends_seen = false;
  bool observation_lost = false;
  bool history_lost = false;
  std::array<bool, 2> terminated{};  // has sent a Terminate; by Role
  std::array<std::optional<wire::PrivateData>, 2> private_data;
  wire::Negotiated negotiated;

  /// The calls of `requester`.
  Direction& direction(trace::Role requester) {
    return directions[static_cast<std::size_t>(requester)];
  }
  Receives& receives(trace::Role role) { return receives_of[static_cast<std::size_t>(role)]; }
  /// Thresholds and the R flags are known.
  bool established() const { return connect_seen && accept_seen; }
  const Direction& direction(trace::Role requester) const {
    return directions[static_cast<std::size_t>(requester)];
  }
  /// Call it at the first Send.
  void begin();
  /// Events are missing before the next one.
  void forget_history();

  std::array<Direction, 2> directions;
  std::array<Receives, 2> receives_of;
};

}  // namespace steertag::conformance
