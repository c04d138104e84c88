// Rules on the connection as a whole.
#pragma once

#include <array>

#include "conformance/connection_state.h"
#include "conformance/rule.h"

namespace steertag::conformance {

inline constexpr Rule kNothingFollowsATerminate{"nothing_follows_a_terminate",
                                                ledger::ref("RFC5040-5.4-1"),
                                                "A side sends nothing after its Terminate."};

inline constexpr std::array kConnectionRules{
    kNothingFollowsATerminate,
};

/// Call it for any event that transmits something, except a Terminate.
void check_after_terminate(const trace::Event& event, Connection& connection);

}  // namespace steertag::conformance
