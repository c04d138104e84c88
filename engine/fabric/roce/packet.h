// One RoCEv2 packet: headers, payload, pad and invariant CRC behind a UDP header.
#pragma once

#include <optional>
#include <span>

#include "fabric/net_names.h"
#include "fabric/roce/formats.h"

namespace steertag::fabric::roce {

/// Fields of extended headers that the opcode does not have keep their defaults.
struct Packet {
  BaseHeader base;
  DatagramHeader datagram;
  RdmaHeader rdma;
  AckHeader ack;
  std::uint32_t invalidate = 0;
  View payload;

  const OpcodeTraits& traits() const { return wire::traits(base.opcode); }
};

/// The addresses of a packet, which the invariant CRC covers.
struct Path {
  const Address& source;
  const Address& destination;
};

/// Octets of the packet with `payload_bytes`.
std::size_t packet_bytes(Opcode opcode, std::size_t payload_bytes);

/// Writes the packet, whose payload is the concatenation of `payload`, and returns its size. The
/// pad count is filled in. `room` must be large enough.
std::size_t write_packet(const Path& path, const Packet& packet, std::span<const View> payload,
                         MutableView room);

enum class PacketFault : std::uint8_t { cut, version, opcode, crc };

/// Checks length, version, opcode and invariant CRC.
Expected<Packet, PacketFault> read_packet(const Path& path, View octets);

/// The invariant CRC of the octets before it (InfiniBand specification, annex A17).
std::uint32_t invariant_crc(const Path& path, View octets, std::size_t packet_bytes);

}  // namespace steertag::fabric::roce
