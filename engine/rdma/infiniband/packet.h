// A packet of RoCEv2, from the base header through the invariant CRC: written and taken apart.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "rdma/infiniband/invariant_crc.h"
#include "rdma/infiniband/routing.h"
#include "rdma/infiniband/transport.h"
#include "support/bytes.h"
#include "support/expected.h"

namespace steertag::rdma::infiniband {

/// Base header and the longest extended header, that of atomic requests.
inline constexpr std::size_t kMostHeaderBytes = kBaseBytes + kAtomicBytes;
inline constexpr std::size_t kMostPadBytes = 3;

/// Octets between a payload and the invariant CRC.
constexpr std::uint8_t pad_bytes(std::size_t payload) {
  return static_cast<std::uint8_t>(-payload & kMostPadBytes);
}

/// The headers of a packet. Extended headers that its opcode lacks keep their defaults.
struct PacketHeaders {
  BaseHeader base;
  DatagramHeader datagram;
  RdmaHeader rdma;
  AtomicHeader atomic;
  AckHeader ack;
  std::uint64_t original = 0;  // AtomicAckETH: the value before the operation
  std::uint32_t immediate = 0;
  std::uint32_t invalidate = 0;  // IETH: an R_Key
  bool operator==(const PacketHeaders&) const = default;

  const OpcodeTraits& traits() const { return infiniband::traits(base.opcode); }
  std::size_t bytes() const { return kBaseBytes + traits().extension_bytes(); }
};
/// Writes the bytes() of the headers, and reads as many as the base header's opcode says.
void encode(const PacketHeaders& headers, std::byte* to);
PacketHeaders decode_headers(const std::byte* from);

/// What surrounds a payload: the headers in front of it, pad and invariant CRC behind it. The
/// payload is not copied.
class PacketFrame {
 public:
  /// Writes the headers with the pad that the payload needs. The CRC is still zero.
  PacketFrame(const PacketHeaders& headers, std::size_t payload_bytes);

  /// Computes the CRC, over octets that a test may have changed. `identification` is that of the
  /// IPv4 header.
  void seal(const InvariantCrc& crc, std::span<const View> payload,
            std::uint16_t identification = 0);
  void seal(const InvariantCrc& crc, View payload, std::uint16_t identification = 0);

  MutableView head() { return MutableView(head_).first(head_bytes_); }
  View head() const { return View(head_).first(head_bytes_); }
  MutableView tail() { return MutableView(tail_).first(pad_ + kInvariantCrcBytes); }
  View tail() const { return View(tail_).first(pad_ + kInvariantCrcBytes); }
  std::size_t pad() const { return pad_; }

 private:
  std::array<std::byte, kMostHeaderBytes> head_;
  std::array<std::byte, kMostPadBytes + kInvariantCrcBytes> tail_{};
  std::uint8_t head_bytes_;
  std::uint8_t pad_;
};

/// Why octets are no packet.
enum class PacketFault : std::uint8_t {
  too_short,      // for a base header and an invariant CRC
  bad_version,    // of the transport header
  bad_length,     // no multiple of four octets
  bad_opcode,     // undefined, or of another service
  headers_short,  // no room for the opcode's extended headers
  pad_long,       // more pad than there is payload
};
struct PacketError {
  PacketFault fault = PacketFault::too_short;
  std::uint8_t value = 0;  // of a version or an opcode
};
/// "the opcode 0x15 is unknown" ...
std::string describe(const PacketError& error);

struct Packet {
  PacketHeaders headers;
  View payload;           // without pad
  View pad;               // its octets should be zero
  std::uint32_t crc = 0;  // not checked
};
/// Takes the payload of a UDP datagram apart. The views point into it.
Expected<Packet, PacketError> parse_packet(View octets);

}  // namespace steertag::rdma::infiniband
