// A packet of RoCEv2, from the base header through the invariant CRC: written and taken apart.
#pragma once

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

/// Writes headers, payload and pad at `to`, which needs room for them and the invariant CRC.
/// Returns how many octets those are; the CRC follows them. The pad that the payload needs is in
/// the headers.
std::size_t write_packet(PacketHeaders headers, std::span<const View> payload, std::byte* to);
/// The same with its CRC, as octets of their own. `identification` is that of the IPv4 header.
Bytes whole_packet(const PacketHeaders& headers, View payload, const InvariantCrc& crc,
                   std::uint16_t identification = 0);

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
