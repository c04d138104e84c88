// The catalogue of deviations: every family in one list, found by name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "deviations/deviation.h"
#include "support/expected.h"

namespace steertag::deviations {

/// All of one side, in a fixed order.
std::vector<const Deviation*> all(trace::Role side);
/// Null if there is none.
const Deviation* find(std::string_view name, trace::Role side);
/// The error is one sentence that proposes the nearest names.
Expected<const Deviation*, std::string> find_or_propose(std::string_view name, trace::Role side);
/// The ledger ids that it breaks, its own first.
std::vector<std::string_view> broken(const Deviation& deviation);

}  // namespace steertag::deviations
