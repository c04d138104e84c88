// A rule: what the judge checks, and the requirement that a violation breaks.
#pragma once

#include <span>
#include <string_view>

#include "ledger/ledger.h"

namespace steertag::conformance {

/// Several rules may cite one requirement.
struct Rule {
  std::string_view name;  // snake_case, unique
  ledger::Ref requirement;
  std::string_view sentence;  // what is true on a conforming connection
};

/// All rules that the judge applies, by family.
std::span<const Rule> rules();

/// All rules on superseded dialects (legacy/), which PrototypeJudge and Rfc5666Judge apply.
std::span<const Rule> legacy_rules();

}  // namespace steertag::conformance
