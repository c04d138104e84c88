// A rule: what the judge looks at, and the requirement that is broken when it does not hold.
#pragma once

#include <span>
#include <string_view>

#include "ledger/ledger.h"

namespace steertag::conformance {

/// Several rules may cite one requirement.
struct Rule {
  std::string_view name;  // snake_case, unique
  ledger::Ref requirement;
  std::string_view sentence;  // what holds on a conforming connection
};

/// Every rule that the judge applies, family by family.
std::span<const Rule> rules();

/// Every rule on superseded dialects (legacy/), which PrototypeJudge and Rfc5666Judge apply.
std::span<const Rule> legacy_rules();

}  // namespace steertag::conformance
