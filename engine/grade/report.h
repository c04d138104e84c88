// What grading a capture came to.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "conformance/finding.h"
#include "grade/note.h"
#include "grade/summary.h"

namespace steertag::grade {

/// Connections of which a summary is kept, and findings kept over all of them. Far more than
/// anybody reads; they bound the memory that a capture of any length takes.
inline constexpr std::size_t kMostConnectionsKept = 4096;
inline constexpr std::size_t kMostFindingsKept = 16384;
/// Findings kept of one connection: one that breaks a rule with every message hides no other.
inline constexpr std::size_t kMostFindingsListed = 256;

/// A finding with the packet that it hangs on. Its `event` is that packet's frame number too.
struct PlacedFinding {
  std::uint64_t connection = 0;
  capture::Place place;
  conformance::Finding finding;
  EventName event;
  /// The packet at which it became known: a later one, or 0 for the capture's end, if the reader
  /// held back what it hangs on.
  std::uint64_t known_frame = 0;
};

struct Report {
  std::deque<ConnectionSummary> connections;  // in the order of their numbers
  std::uint64_t connections_in_all = 0;
  std::uint64_t connections_refused = 0;  // not judged: more were open than kMostConnectionsOpen
  /// Of which losses left no message to judge.
  std::uint64_t connections_unjudged = 0;
  std::uint64_t messages_judged = 0;    // Sends, of all connections
  std::vector<PlacedFinding> findings;  // in the order of packets
  std::uint64_t findings_in_all = 0;    // with those that are not kept
  /// All of them by rule and culprit, but for those of a packet in which the judge found too many.
  std::vector<FindingCount> findings_by_rule;
};

}  // namespace steertag::grade
