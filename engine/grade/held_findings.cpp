// Decides by acknowledgments, turns, and what the other side sends in them.
#include "grade/held_findings.h"

#include <algorithm>
#include <utility>

#include "conformance/invalidation_rules.h"

namespace steertag::grade {

void HeldFindings::ask(const trace::Event& event) {
  pastless_.lose_past();
  pastless_.on_event(event);
  pastless_.take_findings(without_past_);
}

bool HeldFindings::needs_no_past(const conformance::Finding& finding) const {
  return std::ranges::any_of(without_past_, [&](const conformance::Finding& each) {
    return each.rule == finding.rule && each.culprit == finding.culprit;
  });
}

bool HeldFindings::hold(HeldFinding held) {
  if (held_.size() == kMostFindingsHeld) return false;
  held_.push_back(std::move(held));
  return true;
}

void HeldFindings::receive(trace::Role actor, const capture::Place& upto) {
  for (HeldFinding& each : held_) {
    if (each.finding.culprit != actor && each.place.frame <= upto.frame) each.received = true;
  }
}

void HeldFindings::respond(trace::Role actor) {
  for (HeldFinding& each : held_) {
    if (each.awaits_responses && each.finding.culprit != actor) ++each.responses;
  }
}

void HeldFindings::turn(trace::Role actor, bool in_order) {
  for (HeldFinding& each : held_) {
    if (each.finding.culprit == actor) continue;
    const bool late = each.responses > 0 && each.responses <= kMostMisplacedResponses;
    const bool proven = in_order && (each.paired || (each.received && !late));
    each.proven = proven && (each.proven || !each.turned);
    each.turned = true;
  }
}

void HeldFindings::explain(const conformance::Message& message) {
  for (HeldFinding& each : held_) {
    if (each.finding.culprit == message.sender) continue;
    const auto& [xid, stag] = each.grounds;
    each.explained |= xid && *xid == message.words.xid;
    each.explained |= stag && conformance::offers(*message.header, *stag);
  }
}

/// Takes those out that are `ripe`, and believes those that are `certain`.
template <class Ripe, class Certain>
Decided HeldFindings::take(Ripe ripe, Certain certain) {
  Decided decided;
  std::erase_if(held_, [&](HeldFinding& each) {
    if (!ripe(each)) return false;
    if (certain(each) && !each.explained) {
      decided.believed.push_back(std::move(each));
    } else {
      ++decided.undecided;
    }
    return true;
  });
  return decided;
}

Decided HeldFindings::decide(trace::Role actor) {
  return take([&](const HeldFinding& each) { return each.turned && each.finding.culprit != actor; },
              [](const HeldFinding& each) { return each.proven; });
}

Decided HeldFindings::end() {
  return take([](const HeldFinding&) { return true; },
              [](const HeldFinding& each) { return each.paired && each.proven == each.turned; });
}

std::size_t HeldFindings::drop() {
  const std::size_t count = held_.size();
  held_.clear();
  return count;
}

}  // namespace steertag::grade
