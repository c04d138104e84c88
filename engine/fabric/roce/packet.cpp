// Encoding, decoding and the invariant CRC of packets.
#include "fabric/roce/packet.h"

#include <isa-l/crc.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

namespace steertag::fabric::roce {
namespace {

constexpr std::size_t kCrcBytes = 4;
constexpr std::size_t kIpBytes = 20;
constexpr std::size_t kUdpBytes = 8;
constexpr std::size_t kLocalRouteBytes = 8;

void store_address(std::byte* to, const Address& address) {
  sockaddr_in four{};
  std::memcpy(&four, &address.storage, sizeof four);
  std::memcpy(to, &four.sin_addr, sizeof four.sin_addr);
}

std::uint32_t crc32(std::uint32_t seed, const std::byte* from, std::size_t count) {
  return crc32_gzip_refl(seed, reinterpret_cast<const unsigned char*>(from), count);
}

}  // namespace

std::uint32_t invariant_crc(const Path& path, View octets, std::size_t packet_bytes) {
  // Fields that change on the way count as ones, as does the place of a local route header.
  std::array<std::byte, kLocalRouteBytes + kIpBytes + kUdpBytes + wire::kBaseBytes> masked;
  masked.fill(std::byte{0xff});
  std::byte* const ip = masked.data() + kLocalRouteBytes;
  store8(ip, 0x45);
  store16(ip + 2, static_cast<std::uint16_t>(kIpBytes + kUdpBytes + packet_bytes));
  store16(ip + 4, 0);       // identification
  store16(ip + 6, 0x4000);  // do not fragment
  store8(ip + 9, IPPROTO_UDP);
  store_address(ip + 12, path.source);
  store_address(ip + 16, path.destination);
  std::byte* const udp = ip + kIpBytes;
  store16(udp, path.source.port());
  store16(udp + 2, path.destination.port());
  store16(udp + 4, static_cast<std::uint16_t>(kUdpBytes + packet_bytes));
  std::byte* const base = udp + kUdpBytes;
  std::memcpy(base, octets.data(), wire::kBaseBytes);
  base[4] = std::byte{0xff};
  const std::uint32_t seed = crc32(0, masked.data(), masked.size());
  return crc32(seed, octets.data() + wire::kBaseBytes, octets.size() - wire::kBaseBytes);
}

std::size_t packet_bytes(Opcode opcode, std::size_t payload_bytes) {
  return wire::kBaseBytes + traits(opcode).extension_bytes() + (payload_bytes + 3) / 4 * 4 +
         kCrcBytes;
}

std::size_t write_packet(const Path& path, const Packet& packet, std::span<const View> payload,
                         MutableView room) {
  const OpcodeTraits& has = packet.traits();
  std::byte* const start = room.data();
  std::byte* at = start + wire::kBaseBytes;
  if (has.datagram) {
    encode(packet.datagram, at);
    at += wire::kDatagramBytes;
  }
  if (has.reth) {
    encode(packet.rdma, at);
    at += wire::kRdmaBytes;
  }
  if (has.aeth) {
    encode(packet.ack, at);
    at += wire::kAckBytes;
  }
  if (has.invalidate) {
    store32(at, packet.invalidate);
    at += wire::kInvalidateBytes;
  }
  std::size_t bytes = 0;
  for (const View piece : payload) {
    if (!piece.empty()) {
      std::memcpy(at, piece.data(), piece.size());
      at += piece.size();
      bytes += piece.size();
    }
  }
  BaseHeader base = packet.base;
  base.pad = static_cast<std::uint8_t>(-bytes & 3);
  std::memset(at, 0, base.pad);
  at += base.pad;
  encode(base, start);
  const auto covered = static_cast<std::size_t>(at - start);
  const std::size_t whole = covered + kCrcBytes;
  const std::uint32_t crc = invariant_crc(path, View(start, covered), whole);
  for (std::size_t i = 0; i < kCrcBytes; ++i) {
    store8(at + i, static_cast<std::uint8_t>(crc >> 8 * i));
  }
  return whole;
}

Expected<Packet, PacketFault> read_packet(const Path& path, View octets) {
  if (octets.size() < wire::kBaseBytes + kCrcBytes) {
    return tl::unexpected(PacketFault::cut);
  }
  Packet packet;
  packet.base = wire::decode_base(octets.data());
  if (packet.base.version != 0) {
    return tl::unexpected(PacketFault::version);
  }
  const OpcodeTraits& has = packet.traits();
  if (has.operation == wire::Operation::none) {
    return tl::unexpected(PacketFault::opcode);
  }
  const std::size_t fixed = wire::kBaseBytes + has.extension_bytes() + packet.base.pad + kCrcBytes;
  if (octets.size() < fixed || octets.size() % 4 != 0) {
    return tl::unexpected(PacketFault::cut);
  }
  const View covered = octets.first(octets.size() - kCrcBytes);
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < kCrcBytes; ++i) {
    crc |= std::uint32_t{load8(octets.data() + covered.size() + i)} << 8 * i;
  }
  if (crc != invariant_crc(path, covered, octets.size())) {
    return tl::unexpected(PacketFault::crc);
  }
  const std::byte* at = octets.data() + wire::kBaseBytes;
  if (has.datagram) {
    packet.datagram = wire::decode_datagram(at);
    at += wire::kDatagramBytes;
  }
  if (has.reth) {
    packet.rdma = wire::decode_rdma(at);
    at += wire::kRdmaBytes;
  }
  if (has.atomic) {
    at += wire::kAtomicBytes;
  }
  if (has.aeth) {
    packet.ack = wire::decode_ack(at);
    at += wire::kAckBytes;
  }
  if (has.atomic_ack) {
    at += wire::kAtomicAckBytes;
  }
  if (has.immediate) {
    at += wire::kImmediateBytes;
  }
  if (has.invalidate) {
    packet.invalidate = load32(at);
  }
  packet.payload = octets.subspan(wire::kBaseBytes + has.extension_bytes(), octets.size() - fixed);
  return packet;
}

}  // namespace steertag::fabric::roce
