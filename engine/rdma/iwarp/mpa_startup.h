// MPA request and reply frames, revision 1 and enhanced revision 2 (RFC 5044 7.1, RFC 6581 6, 9).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "support/bytes.h"
#include "support/expected.h"

namespace steertag::rdma::iwarp {

inline constexpr std::size_t kStartupHeaderBytes = 20;
inline constexpr std::size_t kStartupKeyBytes = 16;
inline constexpr std::size_t kEnhancedBytes = 4;
/// RFC 5044 7.1.1: at most 512 octets, including the enhanced words.
inline constexpr std::size_t kMostPrivateData = 512;
/// RFC 6581 9.1: this value leaves IRD or ORD to the upper layer.
inline constexpr std::uint16_t kNotNegotiated = 0x3fff;

enum class StartupKind : std::uint8_t { request, reply };

/// Enhanced connection establishment data (RFC 6581 9): depths have 14 bits.
struct Enhanced {
  bool peer_to_peer = false;  // A
  bool rtr_send = false;      // B
  bool rtr_write = false;     // C
  bool rtr_read = false;      // D
  std::uint16_t ird = 0;
  std::uint16_t ord = 0;
  bool operator==(const Enhanced&) const = default;
};

struct StartupFrame {
  StartupKind kind = StartupKind::request;
  bool markers = false;   // M
  bool crc = false;       // C
  bool rejected = false;  // R, in replies only
  std::uint8_t revision = 1;
  std::optional<Enhanced> enhanced;  // S
  Bytes private_data;                // without the enhanced words
  bool operator==(const StartupFrame&) const = default;
};

enum class StartupFault : std::uint8_t {
  bad_key,             // the key is not that of the expected frame
  wrong_direction,     // a request instead of a reply, or the reverse
  bad_revision,        // neither 1 nor 2
  private_data_long,   // PD_Length exceeds 512
  enhanced_truncated,  // S is set and PD_Length has no room for the enhanced words
};
std::string_view sentence(StartupFault fault);

/// How many octets the frame still lacks after `so_far`: 0 if it is complete (or longer). The first
/// octet that proves a fault reports it.
Expected<std::size_t, StartupFault> octets_lacking(StartupKind kind, View so_far);

/// Decodes a complete frame; octets after it are ignored.
Expected<StartupFrame, StartupFault> decode_startup(StartupKind kind, View frame);

/// Overwrites the key with that of such a frame, as far as octets exist.
void set_key(StartupKind kind, MutableView so_far);

/// Encodes the frame. Private data must not exceed the field's 65535 octets.
Bytes encode(const StartupFrame& frame);

}  // namespace steertag::rdma::iwarp
