// Whole management datagrams of connection setup.
//
// They have fields that only the ends of a connection need (InfiniBand specification 12.6, 12.7).
#pragma once

#include <array>
#include <optional>

#include "fabric/roce/formats.h"

namespace steertag::fabric::roce {

/// Reasons of a REJ (InfiniBand specification 12.6.7.2).
namespace reject {
inline constexpr std::uint16_t kNoQueuePair = 1;
inline constexpr std::uint16_t kTimeout = 4;
inline constexpr std::uint16_t kUnsupported = 5;
inline constexpr std::uint16_t kInvalidId = 6;
inline constexpr std::uint16_t kInvalidService = 8;
inline constexpr std::uint16_t kInvalidTransport = 9;
inline constexpr std::uint16_t kStale = 10;
inline constexpr std::uint16_t kInvalidMtu = 26;
inline constexpr std::uint16_t kConsumer = wire::kRejectedByConsumer;
}  // namespace reject

struct Mad {
  std::uint64_t transaction = 0;
  CmMessage message;
  std::uint8_t responder_resources = 0;  // REQ, REP: READs that the sender takes at a time
  std::uint8_t initiator_depth = 0;      // REQ, REP: READs that the sender issues at a time
  std::uint8_t rnr_retries = 7;          // REQ, REP: of the receiver of the message
  std::uint8_t retries = 7;              // REQ
  std::uint8_t response_timeout = 0;     // REQ: 4.096 us * 2^n, for the answers of both sides
  std::uint8_t tries = 15;               // REQ
  std::uint8_t ack_timeout = 0;          // REQ: of the receiver's packets
  std::uint8_t service_timeout = 0;      // MRA
  std::uint8_t answers = 0;              // MRA, REJ: 0 a REQ, 1 a REP
  std::array<std::byte, 16> local_gid{};
  std::array<std::byte, 16> remote_gid{};
};

using MadOctets = std::array<std::byte, wire::kMadBytes>;
MadOctets encode_mad(const Mad& mad);
/// Nothing if it is no whole message of connection management. Views point into `octets`.
std::optional<Mad> decode_mad(View octets);

/// The exponent of a time-out of at least so many microseconds.
std::uint8_t timeout_exponent(std::int64_t microseconds);
std::int64_t timeout_microseconds(std::uint8_t exponent);

}  // namespace steertag::fabric::roce
