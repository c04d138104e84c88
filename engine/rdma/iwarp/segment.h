// DDP segment headers with the RDMAP control octet, and Read Requests (RFC 5041 4, RFC 5040 4).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "support/bytes.h"

namespace steertag::rdma::iwarp {

/// RDMAP opcodes (RFC 5040 4.3).
enum class Opcode : std::uint8_t {
  rdma_write = 0,
  read_request = 1,
  read_response = 2,
  send = 3,
  send_invalidate = 4,
  send_solicited = 5,
  send_solicited_invalidate = 6,
  terminate = 7,
  read_refusal = 15,  // ours: RFC 5040 has up to 7, RFC 7306 up to 11
};
/// "Send with Invalidate", or "opcode 9" for a value without a name.
std::string_view name(Opcode opcode);
constexpr bool is_send(Opcode opcode) {
  return opcode >= Opcode::send && opcode <= Opcode::send_solicited_invalidate;
}
constexpr bool invalidates(Opcode opcode) {
  return opcode == Opcode::send_invalidate || opcode == Opcode::send_solicited_invalidate;
}

/// Queue numbers of untagged messages (RFC 5040 4.4).
inline constexpr std::uint32_t kSendQueue = 0;
inline constexpr std::uint32_t kReadRequestQueue = 1;
inline constexpr std::uint32_t kTerminateQueue = 2;
/// Ours, where both sides agreed: refusals of RDMA Reads. RFC 7306 has 3.
inline constexpr std::uint32_t kReadRefusalQueue = 4;

inline constexpr std::size_t kTaggedHeaderBytes = 14;
inline constexpr std::size_t kUntaggedHeaderBytes = 18;
inline constexpr std::size_t kReadRequestBytes = 28;
inline constexpr std::size_t kReadRefusalBytes = 8;
inline constexpr std::uint8_t kDdpVersion = 1;
inline constexpr std::uint8_t kRdmapVersion = 1;

/// One DDP segment header. A value may be illegal (wrong version, unknown opcode). Reserved bits
/// are sent as zero and ignored.
struct Segment {
  bool tagged = false;
  bool last = true;
  std::uint8_t ddp_version = kDdpVersion;      // 2 bits
  std::uint8_t rdmap_version = kRdmapVersion;  // 2 bits
  Opcode opcode = Opcode::send;                // 4 bits
  std::uint32_t stag = 0;    // tagged: the STag; untagged: the Invalidate STag, or 0
  std::uint64_t offset = 0;  // tagged offset TO
  std::uint32_t qn = 0;      // untagged from here
  std::uint32_t msn = 0;
  std::uint32_t mo = 0;

  std::size_t header_bytes() const { return tagged ? kTaggedHeaderBytes : kUntaggedHeaderBytes; }
  bool operator==(const Segment&) const = default;
};

/// Whether a segment with this first octet is tagged.
constexpr bool starts_tagged(std::byte control) {
  return (control & std::byte{0x80}) != std::byte{0};
}
/// Writes `segment.header_bytes()` octets.
void encode(const Segment& segment, std::byte* to);
/// Reads a header. `from` has at least the 14 or 18 octets that its first bit requires.
Segment decode_segment(const std::byte* from);

/// RDMAP Read Request header (RFC 5040 4.4).
struct ReadRequest {
  std::uint32_t sink_stag = 0;
  std::uint64_t sink_offset = 0;
  std::uint32_t length = 0;
  std::uint32_t source_stag = 0;
  std::uint64_t source_offset = 0;
  bool operator==(const ReadRequest&) const = default;
};
/// Writes kReadRequestBytes octets.
void encode(const ReadRequest& request, std::byte* to);
ReadRequest decode_read_request(const std::byte* from);

}  // namespace steertag::rdma::iwarp
