// The counters of one connection, of fixed size.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "capture/connection.h"
#include "conformance/direct/optimistic_connection.h"
#include "conformance/finding.h"
#include "conformance/message.h"
#include "ledger/ledger.h"
#include "wire/private_data.h"

namespace steertag::grade {

/// One kind of loss.
struct LossSummary {
  std::uint64_t count = 0;
  std::uint64_t first_frame = 0;
  std::uint64_t last_frame = 0;
};
inline constexpr std::size_t kLossKinds = 5;
static_assert(static_cast<std::size_t>(capture::LossKind::overflow) + 1 == kLossKinds);

inline constexpr std::size_t kMessageKinds = 8;
static_assert(static_cast<std::size_t>(conformance::Kind::reply) + 1 == kMessageKinds);

/// The transactions whose calls one side sends. Forward: the client is the requester (RFC 8167 2).
struct DirectionSummary {
  std::uint64_t calls = 0;
  std::uint64_t replies = 0;
  std::uint64_t errors = 0;      // RDMA_ERROR in place of a reply
  std::uint64_t unanswered = 0;  // calls after the last loss without an answer at the end
  std::uint64_t most_in_flight = 0;
  std::uint32_t largest_requested = 0;
  std::uint32_t largest_granted = 0;
  std::uint32_t last_granted = 0;
  // Offers of the calls.
  std::uint64_t read_segments = 0;
  std::uint64_t position_zero_chunks = 0;
  std::uint64_t write_chunks = 0;
  std::uint64_t reply_chunks = 0;
};

/// The acts and announcements of one side.
struct SideSummary {
  bool opening_seen = false;  // its Connect or Accept
  std::optional<wire::PrivateData> announced;
  std::uint64_t sends = 0;
  std::uint64_t send_bytes = 0;
  std::uint64_t invalidating_sends = 0;  // Sends with Invalidate
  std::uint64_t placed_bytes = 0;        // in the other side's memory, by RDMA Write
  std::uint64_t reads = 0;               // Read Requests
  std::uint64_t read_bytes = 0;          // of the other side's memory, in Read Responses
  std::uint64_t terminates = 0;
  capture::PacketTally wrong_crcs;  // RoCEv2: packets with a wrong invariant CRC
};

struct FindingCount {
  const ledger::Requirement* requirement = nullptr;
  std::string_view rule;
  trace::Role culprit = trace::Role::server;
  std::uint64_t count = 0;
  std::uint64_t first_frame = 0;
};

/// Counts a finding under its rule and culprit. There are at most two entries for each rule.
void count_by_rule(std::vector<FindingCount>& counts, const conformance::Finding& finding,
                   std::uint64_t frame);

/// The Reads of an optimistic connection (docs/direct-access.md).
struct OptimisticSummary {
  std::uint64_t hello_frame = 0;  // of the reply whose ticket opened it; 0 if it was not seen
  std::array<std::uint64_t, conformance::kReadStates> reads{};  // by conformance::ReadState
};

/// Arrays over both sides and both directions use trace::Role as index. A direction's index is its
/// requester.
struct ConnectionSummary {
  std::uint64_t number = 0;  // from 1 in order of appearance
  capture::ConnectionName name;
  capture::FrameStamp first;
  capture::FrameStamp last;
  bool rejected = false;
  bool ended = false;  // by either side, before the capture's end
  bool ended_clean = false;

  /// Nothing unless Connect and Accept were seen. If only one side sent an announcement, the
  /// negotiated values are the defaults (RFC 8797 4.2).
  std::optional<wire::Negotiated> negotiated;
  std::array<SideSummary, 2> sides;
  std::array<DirectionSummary, 2> directions;
  std::array<std::uint64_t, kMessageKinds> messages{};  // by conformance::Kind
  std::array<LossSummary, kLossKinds> losses;           // by capture::LossKind

  std::optional<OptimisticSummary> optimistic;  // nothing for RPC-over-RDMA
  std::uint64_t references = 0;                 // of direct access, in replies
  std::uint64_t fallbacks = 0;                  // reads by RPC after an optimistic one that failed

  std::vector<FindingCount> findings;  // one per rule and culprit, in order of appearance
  std::uint64_t findings_in_all = 0;
  /// Not reported: missing or reordered packets may explain them.
  std::uint64_t findings_undecided = 0;
  std::uint64_t findings_dropped = 0;  // beyond kMostFindingsListed: only counted

  const SideSummary& side(trace::Role role) const { return sides[static_cast<std::size_t>(role)]; }
  SideSummary& side(trace::Role role) { return sides[static_cast<std::size_t>(role)]; }
  const DirectionSummary& direction(trace::Role requester) const {
    return directions[static_cast<std::size_t>(requester)];
  }
  DirectionSummary& direction(trace::Role requester) {
    return directions[static_cast<std::size_t>(requester)];
  }
  bool has_losses() const;
  bool has_messages() const;
};

/// "call", "reply", "RDMA_ERROR" ...
std::string_view name(conformance::Kind kind);

}  // namespace steertag::grade
