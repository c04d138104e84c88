// Rules on the connection as a whole.
#pragma once

#include <array>

#include "conformance/connection_state.h"
#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kNothingFollowsATerminate{"nothing_follows_a_terminate",
                                                ledger::ref("RFC5040-5.4-1"),
                                                "A side sends nothing after its Terminate."};

inline constexpr Rule kReadRefusalWasAgreed{
    "read_refusal_was_agreed", ledger::ref("RFC5040-4.1-1"),
    "A side refuses a Read by a message outside of RFC 5040 only where both agreed to it."};

inline constexpr std::array kConnectionRules{
    kNothingFollowsATerminate,
    kReadRefusalWasAgreed,
};

/// Call it for a refusal on a connection whose sides did not agree to it.
void refuse_read_refusal(const trace::Event& event, Connection& connection);

/// Call it for any event that transmits something, except a Terminate.
void check_after_terminate(const trace::Event& event, Connection& connection);

}  // namespace steertag::conformance
