// The judge of a superseded profile, which replaces Judge.
#pragma once

#include <variant>
#include <vector>

#include "conformance/legacy/prototype_judge.h"
#include "conformance/legacy/rfc5666_judge.h"
#include "grade/profile.h"

namespace steertag::grade {

class LegacyJudge {
 public:
  /// Profile::rfc8166 has no legacy judge.
  explicit LegacyJudge(Profile profile) : profile_(profile) { begin(); }

  void on_event(const trace::Event& event) {
    std::visit([&](auto& judge) { judge.on_event(event); }, judge_);
  }
  /// Continues as with a connection that was joined in its middle.
  void forget_history() {
    dropped_ = dropped_findings();
    begin();
  }
  /// As Judge::take_findings.
  void take_findings(std::vector<conformance::Finding>& into) {
    std::visit([&](auto& judge) { judge.take_findings(into); }, judge_);
  }
  std::size_t dropped_findings() const {
    return dropped_ +
           std::visit([](const auto& judge) { return judge.dropped_findings(); }, judge_);
  }

 private:
  void begin() {
    if (profile_ == Profile::prototype) {
      judge_.emplace<conformance::PrototypeJudge>();
    } else {
      judge_.emplace<conformance::Rfc5666Judge>();
    }
  }

  Profile profile_;
  std::variant<conformance::Rfc5666Judge, conformance::PrototypeJudge> judge_;
  std::size_t dropped_ = 0;  // by earlier judges
};

}  // namespace steertag::grade
