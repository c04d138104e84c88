// The result of grading a capture.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "conformance/finding.h"
#include "grade/file_summary.h"
#include "grade/note.h"
#include "grade/summary.h"

namespace steertag::grade {

/// At most this many connections have a summary, and at most this many findings are kept. Both
/// limit the memory for captures of any length, far above what a reader looks at.
inline constexpr std::size_t kMostConnectionsKept = 4096;
inline constexpr std::size_t kMostFindingsKept = 16384;
/// At most this many findings of one connection, so that one connection cannot hide the findings of
/// others.
inline constexpr std::size_t kMostFindingsListed = 256;

/// A finding and the packet that proves it. Its `event` is that packet's frame number too.
struct PlacedFinding {
  std::uint64_t connection = 0;
  capture::FrameStamp stamp;
  conformance::Finding finding;
  EventName event;
  /// The packet at which the finding became known: a later one, or 0 for the capture's end, if the
  /// reader had queued the packet.
  std::uint64_t known_frame = 0;
};

struct Report {
  std::deque<ConnectionSummary> connections;  // by number
  std::uint64_t connections_in_all = 0;
  std::uint64_t connections_refused = 0;  // not judged: more than kMostConnectionsOpen were open
  /// Losses left no message to judge.
  std::uint64_t connections_unjudged = 0;
  std::uint64_t messages_judged = 0;    // Sends of all connections
  std::vector<PlacedFinding> findings;  // in packet order
  std::uint64_t findings_in_all = 0;    // including those that are not kept
  /// All findings by rule and culprit, except on packets where the judge found too many.
  std::vector<FindingCount> findings_by_rule;
  std::vector<FileSummary> files;  // with layouts, in the order of their first one
};

}  // namespace steertag::grade
