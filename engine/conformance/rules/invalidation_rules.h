// Rules on Send with Invalidate (RFC 8797 4.1).
#pragma once

#include <array>

#include "conformance/message.h"
#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kInvalidationNeedsBothFlags{
    "invalidation_needs_both_flags", ledger::ref("RFC8797-4.1-3"),
    "Send with Invalidate is used only if both sides set R."};
inline constexpr Rule kInvalidatedStagBelongsToTheXid{
    "invalidated_stag_belongs_to_the_xid", ledger::ref("RFC8797-4.1-2"),
    "The invalidated STag was offered in the call that is answered."};

inline constexpr std::array kInvalidationRules{
    kInvalidationNeedsBothFlags,
    kInvalidatedStagBelongsToTheXid,
};

/// Whether a segment of the message's lists has this STag.
bool offers(const wire::Header& header, std::uint32_t stag);

/// Call it for every Send. `call` is the call that it answers, or nullptr.
void check_invalidation(const Message& message, const Call* call, Connection& connection);

}  // namespace steertag::conformance
