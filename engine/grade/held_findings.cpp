// Decides by acknowledgments, turns, and what the other side sends in them.
#include "grade/held_findings.h"

#include <algorithm>

#include "conformance/invalidation_rules.h"

namespace steertag::grade {
void HeldFindings::ask(const trace::Event& event) {
  asked_ = pastless_.findings().size();
  pastless_.lose_past();
  pastless_.on_event(event);
}

bool HeldFindings::needs_no_past(const conformance::Finding& finding) const {
  const std::vector<conformance::Finding>& all = pastless_.findings();
  return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(asked_), all.end(),
                     [&](const conformance::Finding& each) {
                       return each.rule == finding.rule && each.culprit == finding.culprit;
                     });
}

void HeldFindings::receive(trace::Role actor, const capture::Place& upto) {
  for (HeldFinding& each : held_) {
    if (each.culprit != actor && each.place.frame <= upto.frame) each.received = true;
  }
}

void HeldFindings::respond(trace::Role actor) {
  for (HeldFinding& each : held_) {
    if (each.awaits_responses && each.culprit != actor) ++each.responses;
  }
}

void HeldFindings::turn(trace::Role actor, bool in_order) {
  for (HeldFinding& each : held_) {
    if (each.culprit == actor) continue;
    const bool late = each.responses > 0 && each.responses <= kMostMisplacedResponses;
    const bool proven = in_order && (each.paired || (each.received && !late));
    each.proven = proven && (each.proven || !each.turned);
    each.turned = true;
  }
}

void HeldFindings::explain(const conformance::Message& message) {
  for (HeldFinding& each : held_) {
    if (each.culprit == message.sender) continue;
    const auto& [xid, stag] = each.grounds;
    each.explained |= xid && *xid == message.words.xid;
    each.explained |= stag && conformance::offers(*message.header, *stag);
  }
}

/// Takes those out that are `ripe`, and believes those that are `certain`.
template <class Ripe, class Certain>
Decided HeldFindings::take(Ripe ripe, Certain certain) {
  Decided decided;
  std::erase_if(held_, [&](const HeldFinding& each) {
    if (!ripe(each)) return false;
    if (certain(each) && !each.explained) {
      decided.believed.push_back(each);
    } else {
      ++decided.undecided;
    }
    return true;
  });
  return decided;
}

Decided HeldFindings::decide(trace::Role actor) {
  return take([&](const HeldFinding& each) { return each.turned && each.culprit != actor; },
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
