// Rules on the CM private data of either side (RFC 8797 4).
#pragma once

#include <array>

#include "conformance/connection_state.h"
#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kPrivateDataHasEightOctets{
    "private_data_has_eight_octets", ledger::ref("RFC8797-4-3"),
    "Behind the format identifier the private data goes on for four octets."};
inline constexpr Rule kPrivateDataVersionIsOne{"private_data_version_is_one",
                                               ledger::ref("RFC8797-4-6"),
                                               "The version behind the format identifier is 1."};
inline constexpr Rule kReservedBitsAreZero{"reserved_bits_are_zero", ledger::ref("RFC8797-4-7"),
                                           "The seven reserved bits of the private data are zero."};

inline constexpr std::array kPrivateDataRules{
    kPrivateDataHasEightOctets,
    kPrivateDataVersionIsOne,
    kReservedBitsAreZero,
};

void check_private_data(const trace::Event& event, View private_data, Connection& connection);

}  // namespace steertag::conformance
