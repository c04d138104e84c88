// Rules on a Send's size: its direction's inline threshold (RFC 8166 3.3.2, RFC 8797 4.2).
#pragma once

#include <array>

#include "conformance/message.h"
#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kClientKeepsNegotiatedThreshold{
    "client_keeps_negotiated_threshold", ledger::ref("RFC8797-4.2-4"),
    "No Send to the server is larger than what both private data allow."};
inline constexpr Rule kServerKeepsNegotiatedThreshold{
    "server_keeps_negotiated_threshold", ledger::ref("RFC8797-4.2-5"),
    "No Send to the client is larger than what both private data allow."};
inline constexpr Rule kDefaultThresholdIsKept{
    "default_threshold_is_kept", ledger::ref("RFC8166-3.3.3-7"),
    "Without private data from both sides no Send is larger than 1024 octets."};

inline constexpr std::array kThresholdRules{
    kClientKeepsNegotiatedThreshold,
    kServerKeepsNegotiatedThreshold,
    kDefaultThresholdIsKept,
};

void check_threshold(const Message& message, Connection& connection);

}  // namespace steertag::conformance
