// Encoding and decoding of transport headers.
#include "rdma/infiniband/transport.h"

#include "rdma/octets.h"

namespace steertag::rdma::infiniband {
namespace {

constexpr std::uint32_t kLow24 = 0xffffff;

}  // namespace

AckKind ack_kind(std::uint8_t syndrome) {
  switch (syndrome >> 5 & 3) {
    case 0:
      return AckKind::ack;
    case 1:
      return AckKind::rnr_nak;
    case 2:
      return AckKind::other;
  }
  switch (syndrome & 31) {
    case 0:
      return AckKind::sequence_nak;
    case 1:
    case 4:  // invalid reliable datagram request
      return AckKind::invalid_request;
    case 2:
      return AckKind::access_error;
    case 3:
      return AckKind::operational_error;
    default:
      return AckKind::other;
  }
}

std::string_view name(AckKind kind) {
  switch (kind) {
    case AckKind::ack:
      return "ACK";
    case AckKind::rnr_nak:
      return "RNR NAK";
    case AckKind::sequence_nak:
      return "NAK: PSN sequence error";
    case AckKind::invalid_request:
      return "NAK: invalid request";
    case AckKind::access_error:
      return "NAK: remote access error";
    case AckKind::operational_error:
      return "NAK: remote operational error";
    case AckKind::other:
      return "reserved syndrome";
  }
  return "unknown syndrome";
}

BaseHeader decode_base(const std::byte* from) {
  BaseHeader header;
  const std::uint8_t flags = load8(from + 1);
  header.opcode = static_cast<Opcode>(load8(from));
  header.solicited = (flags & 0x80) != 0;
  header.migrated = (flags & 0x40) != 0;
  header.pad = static_cast<std::uint8_t>(flags >> 4 & 3);
  header.version = flags & 15;
  header.partition = load16(from + 2);
  header.queue_pair = load32(from + 4) & kLow24;
  header.acknowledge = (load8(from + 8) & 0x80) != 0;
  header.psn = load32(from + 8) & kLow24;
  return header;
}

void encode(const BaseHeader& header, std::byte* to) {
  store8(to, static_cast<std::uint8_t>(header.opcode));
  store8(to + 1,
         static_cast<std::uint8_t>((header.solicited ? 0x80 : 0) | (header.migrated ? 0x40 : 0) |
                                   (header.pad & 3) << 4 | (header.version & 15)));
  store16(to + 2, header.partition);
  store32(to + 4, header.queue_pair & kLow24);
  store32(to + 8, (header.acknowledge ? 0x80000000u : 0) | (header.psn & kLow24));
}

DatagramHeader decode_datagram(const std::byte* from) {
  return {load32(from), load32(from + 4) & kLow24};
}

void encode(const DatagramHeader& header, std::byte* to) {
  store32(to, header.queue_key);
  store32(to + 4, header.source_queue_pair & kLow24);
}

RdmaHeader decode_rdma(const std::byte* from) {
  return {load64(from), load32(from + 8), load32(from + 12)};
}

void encode(const RdmaHeader& header, std::byte* to) {
  store64(to, header.address);
  store32(to + 8, header.key);
  store32(to + 12, header.length);
}

AtomicHeader decode_atomic(const std::byte* from) {
  return {load64(from), load32(from + 8), load64(from + 12), load64(from + 20)};
}

void encode(const AtomicHeader& header, std::byte* to) {
  store64(to, header.address);
  store32(to + 8, header.key);
  store64(to + 12, header.swap);
  store64(to + 20, header.compare);
}

AckHeader decode_ack(const std::byte* from) {
  return {load8(from), load32(from) & kLow24};
}

void encode(const AckHeader& header, std::byte* to) {
  store32(to, static_cast<std::uint32_t>(header.syndrome) << 24 | (header.msn & kLow24));
}

}  // namespace steertag::rdma::infiniband
