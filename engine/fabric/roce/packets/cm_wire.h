// Management datagrams of connection setup, and the time-outs in them.
#pragma once

#include <array>
#include <chrono>
#include <optional>

#include "fabric/roce/packets/formats.h"

namespace steertag::fabric::roce {

struct Mad {
  std::uint64_t transaction = 0;
  CmMessage message;
};

using MadOctets = std::array<std::byte, wire::kMadBytes>;
MadOctets encode_mad(const Mad& mad);
/// Nothing if it is no whole message of connection management. Views point into `octets`.
std::optional<Mad> decode_mad(View octets);

/// The exponent of a time-out of at least this time: 4.096 us * 2^n.
std::uint8_t exponent_of(std::chrono::microseconds time);
std::chrono::microseconds time_of(std::uint8_t exponent);

}  // namespace steertag::fabric::roce
