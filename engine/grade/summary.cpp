// Counts findings by rule, and names kinds of messages.
#include "grade/summary.h"

#include <algorithm>

namespace steertag::grade {

using conformance::Kind;

bool ConnectionSummary::has_losses() const {
  return std::any_of(losses.begin(), losses.end(),
                     [](const LossSummary& each) { return each.count > 0; });
}

bool ConnectionSummary::has_messages() const {
  return std::any_of(messages.begin(), messages.end(),
                     [](std::uint64_t count) { return count > 0; });
}

void count_by_rule(std::vector<FindingCount>& counts, const conformance::Finding& finding,
                   std::uint64_t frame) {
  for (FindingCount& each : counts) {
    if (each.rule != finding.rule || each.culprit != finding.culprit) continue;
    ++each.count;
    return;
  }
  counts.push_back({finding.requirement, finding.rule, finding.culprit, 1, frame});
}

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::empty:
      return "empty Send";
    case Kind::too_short:
      return "too short";
    case Kind::done:
      return "RDMA_DONE";
    case Kind::msgp:
      return "RDMA_MSGP";
    case Kind::error:
      return "RDMA_ERROR";
    case Kind::faulty:
      return "faulty";
    case Kind::call:
      return "call";
    case Kind::reply:
      return "reply";
  }
  return "unknown";
}

}  // namespace steertag::grade
