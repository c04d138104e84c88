// Decides by acknowledgments and turns.
#include "grade/held_findings.h"

#include <algorithm>

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
    if (each.culprit != actor) ++each.responses;
  }
}

Decided HeldFindings::turn(trace::Role actor, bool in_order) {
  Decided decided;
  std::erase_if(held_, [&](const HeldFinding& each) {
    if (each.culprit == actor) return false;
    const bool late = each.responses > 0 && each.responses <= kMostMisplacedResponses;
    if (in_order && each.received && !late) {
      decided.believed.push_back(each);
    } else {
      ++decided.undecided;
    }
    return true;
  });
  return decided;
}

std::size_t HeldFindings::drop() {
  const std::size_t count = held_.size();
  held_.clear();
  return count;
}

}  // namespace steertag::grade
