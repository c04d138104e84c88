// Decides by acknowledgments and by the other side's next message.
#include "grade/pending_findings.h"

#include <algorithm>
#include <utility>

#include "conformance/rules/invalidation_rules.h"

namespace steertag::grade {

void PendingFindings::ask(const trace::Event& event) {
  without_history_.forget_history();
  without_history_.on_event(event);
  without_history_.take_findings(findings_without_history_);
}

bool PendingFindings::needs_no_history(const conformance::Finding& finding) const {
  return std::ranges::any_of(findings_without_history_, [&](const conformance::Finding& each) {
    return each.rule == finding.rule && each.culprit == finding.culprit;
  });
}

bool PendingFindings::hold(PendingFinding pending) {
  if (pending_.size() == kMostPendingFindings) return false;
  pending_.push_back(std::move(pending));
  return true;
}

void PendingFindings::acknowledged(trace::Role actor, const capture::FrameStamp& up_to) {
  for (PendingFinding& each : pending_) {
    if (each.finding.culprit != actor && each.stamp.frame <= up_to.frame) each.received = true;
  }
}

void PendingFindings::read_response(trace::Role actor) {
  for (PendingFinding& each : pending_) {
    if (each.awaits_responses && each.finding.culprit != actor) ++each.responses;
  }
}

void PendingFindings::message_packet(trace::Role actor, bool in_order) {
  for (PendingFinding& each : pending_) {
    if (each.finding.culprit == actor) continue;
    const bool late = each.responses > 0 && each.responses <= kMostReorderedResponses;
    const bool proven = in_order && (each.paired || (each.received && !late));
    each.proven = proven && (each.proven || !each.turned);
    each.turned = true;
  }
}

void PendingFindings::explain(const conformance::Message& message) {
  for (PendingFinding& each : pending_) {
    if (each.finding.culprit == message.sender) continue;
    const auto& [xid, stag] = each.possible_cause;
    each.explained |= xid && *xid == message.words.xid;
    each.explained |= stag && conformance::offers(*message.header, *stag);
  }
}

/// Removes findings that are `ripe`, and confirms those that are `certain`.
template <class Ripe, class Certain>
Decision PendingFindings::take(Ripe ripe, Certain certain) {
  Decision decision;
  std::erase_if(pending_, [&](PendingFinding& each) {
    if (!ripe(each)) return false;
    if (certain(each) && !each.explained) {
      decision.confirmed.push_back(std::move(each));
    } else {
      ++decision.undecided;
    }
    return true;
  });
  return decision;
}

Decision PendingFindings::decide(trace::Role actor) {
  return take(
      [&](const PendingFinding& each) { return each.turned && each.finding.culprit != actor; },
      [](const PendingFinding& each) { return each.proven; });
}

Decision PendingFindings::end() {
  return take([](const PendingFinding&) { return true; },
              [](const PendingFinding& each) { return each.paired && each.proven == each.turned; });
}

std::size_t PendingFindings::drop() {
  const std::size_t count = pending_.size();
  pending_.clear();
  return count;
}

}  // namespace steertag::grade
