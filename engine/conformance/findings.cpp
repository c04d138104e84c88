// Collects findings.
#include "conformance/findings.h"

namespace steertag::conformance {

Finding* Findings::open(const Rule& rule, trace::Role culprit, std::uint64_t event) {
  if (all_.size() == kMostFindings) {
    ++dropped_;
    return nullptr;
  }
  Finding& finding = all_.emplace_back();
  finding.requirement = rule.requirement.get();
  finding.culprit = culprit;
  finding.event = event;
  finding.rule = rule.name;
  return &finding;
}

void Findings::take(std::vector<Finding>& into) {
  into.clear();
  into.swap(all_);
}

}  // namespace steertag::conformance
