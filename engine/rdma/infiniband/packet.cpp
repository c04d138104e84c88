// Headers in the order of the wire, and the checks of what arrives.
#include "rdma/infiniband/packet.h"

#include <algorithm>

#include "rdma/octets.h"
#include "rdma/text.h"

namespace steertag::rdma::infiniband {

void encode(const PacketHeaders& headers, std::byte* to) {
  const OpcodeTraits& kind = headers.traits();
  encode(headers.base, to);
  to += kBaseBytes;
  const auto put = [&to](const auto& header, std::size_t bytes) {
    encode(header, to);
    to += bytes;
  };
  if (kind.datagram) put(headers.datagram, kDatagramBytes);
  if (kind.reth) put(headers.rdma, kRdmaBytes);
  if (kind.atomic) put(headers.atomic, kAtomicBytes);
  if (kind.aeth) put(headers.ack, kAckBytes);
  if (kind.atomic_ack) store64(to, headers.original);  // nothing follows it
  if (kind.immediate) store32(to, headers.immediate);
  if (kind.invalidate) store32(to, headers.invalidate);
}

PacketHeaders decode_headers(const std::byte* from) {
  PacketHeaders headers;
  headers.base = decode_base(from);
  const OpcodeTraits& kind = headers.traits();
  from += kBaseBytes;
  const auto get = [&from](auto decode, std::size_t bytes) {
    const std::byte* header = from;
    from += bytes;
    return decode(header);
  };
  if (kind.datagram) headers.datagram = get(decode_datagram, kDatagramBytes);
  if (kind.reth) headers.rdma = get(decode_rdma, kRdmaBytes);
  if (kind.atomic) headers.atomic = get(decode_atomic, kAtomicBytes);
  if (kind.aeth) headers.ack = get(decode_ack, kAckBytes);
  if (kind.atomic_ack) headers.original = load64(from);
  if (kind.immediate) headers.immediate = load32(from);
  if (kind.invalidate) headers.invalidate = load32(from);
  return headers;
}

std::size_t write_packet(PacketHeaders headers, std::span<const View> payload, std::byte* to) {
  std::size_t bytes = 0;
  std::byte* end = to + headers.bytes();
  for (const View piece : payload) {
    end = std::copy(piece.begin(), piece.end(), end);
    bytes += piece.size();
  }
  headers.base.pad = pad_bytes(bytes);
  end = std::fill_n(end, headers.base.pad, std::byte{0});
  encode(headers, to);
  return static_cast<std::size_t>(end - to);
}

Bytes whole_packet(const PacketHeaders& headers, View payload, const InvariantCrc& crc,
                   std::uint16_t identification) {
  Bytes octets(headers.bytes() + payload.size() + pad_bytes(payload.size()) + kInvariantCrcBytes);
  const std::size_t covered = write_packet(headers, {&payload, 1}, octets.data());
  InvariantCrc::store(crc.of(View(octets).first(covered), identification), octets.data() + covered);
  return octets;
}

std::string describe(const PacketError& error) {
  switch (error.fault) {
    case PacketFault::too_short:
      return "the packet has no room for a base header and an invariant CRC";
    case PacketFault::bad_version:
      return text("the transport header has version %u", error.value);
    case PacketFault::bad_length:
      return "the packet's length is no multiple of four octets";
    case PacketFault::bad_opcode:
      return text("the opcode 0x%02x is unknown", error.value);
    case PacketFault::headers_short:
      return "the packet has no room for the headers of " +
             std::string(name(static_cast<Opcode>(error.value)));
    case PacketFault::pad_long:
      return "the packet has more pad than payload";
  }
  return "the packet has an unknown fault";
}

Expected<Packet, PacketError> parse_packet(View octets) {
  const auto fail = [](PacketFault fault, std::uint8_t value = 0) {
    return Unexpected<PacketError>(PacketError{fault, value});
  };
  if (octets.size() < kBaseBytes + kInvariantCrcBytes) return fail(PacketFault::too_short);
  const BaseHeader base = decode_base(octets.data());
  if (base.version != 0) return fail(PacketFault::bad_version, base.version);
  const auto opcode = static_cast<std::uint8_t>(base.opcode);
  const OpcodeTraits& kind = traits(base.opcode);
  if (kind.operation == Operation::none) return fail(PacketFault::bad_opcode, opcode);
  if (octets.size() % 4 != 0) return fail(PacketFault::bad_length);
  const std::size_t headers = kBaseBytes + kind.extension_bytes();
  if (octets.size() < headers + kInvariantCrcBytes) {
    return fail(PacketFault::headers_short, opcode);
  }
  const View padded = octets.subspan(headers, octets.size() - headers - kInvariantCrcBytes);
  if (padded.size() < base.pad) return fail(PacketFault::pad_long);
  Packet packet;
  packet.headers = decode_headers(octets.data());
  packet.payload = padded.first(padded.size() - base.pad);
  packet.pad = padded.last(base.pad);
  packet.crc = InvariantCrc::load(octets.data() + octets.size() - kInvariantCrcBytes);
  return packet;
}

}  // namespace steertag::rdma::infiniband
