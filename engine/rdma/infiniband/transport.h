// Base transport header and extended headers (InfiniBand specification, chapter 9).
#pragma once

#include <cstdint>
#include <string_view>

#include "rdma/infiniband/opcode.h"
#include "support/bytes.h"

namespace steertag::rdma::infiniband {

/// UDP port of RoCEv2 (InfiniBand specification, annex A17).
inline constexpr std::uint16_t kRoceUdpPort = 4791;
/// Queue pair of general management datagrams.
inline constexpr std::uint32_t kManagementQueuePair = 1;

inline constexpr std::size_t kBaseBytes = 12;
inline constexpr std::size_t kDatagramBytes = 8;    // DETH
inline constexpr std::size_t kRdmaBytes = 16;       // RETH
inline constexpr std::size_t kAtomicBytes = 28;     // AtomicETH
inline constexpr std::size_t kAckBytes = 4;         // AETH
inline constexpr std::size_t kAtomicAckBytes = 8;   // AtomicAckETH
inline constexpr std::size_t kImmediateBytes = 4;   // ImmDt
inline constexpr std::size_t kInvalidateBytes = 4;  // IETH

/// Base transport header (BTH).
struct BaseHeader {
  Opcode opcode = Opcode::send_only;
  bool solicited = false;    // SE
  bool migrated = false;     // M
  std::uint8_t pad = 0;      // 2 bits: octets between payload and invariant CRC
  std::uint8_t version = 0;  // 4 bits
  std::uint16_t partition = 0xffff;
  std::uint32_t queue_pair = 0;  // 24 bits: the destination's
  bool acknowledge = false;      // A
  std::uint32_t psn = 0;         // 24 bits
  bool operator==(const BaseHeader&) const = default;
};

/// Datagram extended transport header (DETH).
struct DatagramHeader {
  std::uint32_t queue_key = 0;
  std::uint32_t source_queue_pair = 0;  // 24 bits
  bool operator==(const DatagramHeader&) const = default;
};

/// RDMA extended transport header (RETH).
struct RdmaHeader {
  std::uint64_t address = 0;
  std::uint32_t key = 0;     // R_Key
  std::uint32_t length = 0;  // of the whole message
  bool operator==(const RdmaHeader&) const = default;
};

struct AtomicHeader {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint64_t swap = 0;  // or what to add
  std::uint64_t compare = 0;
  bool operator==(const AtomicHeader&) const = default;
};

/// ACK extended transport header (AETH).
struct AckHeader {
  std::uint8_t syndrome = 0;
  std::uint32_t msn = 0;  // 24 bits
  bool operator==(const AckHeader&) const = default;
};

/// The meaning of an AETH's syndrome (InfiniBand specification, chapter 9).
enum class AckKind : std::uint8_t {
  ack,
  rnr_nak,          // no receive was posted: the request will be retransmitted
  sequence_nak,     // this PSN is expected: everything from it on will be retransmitted
  invalid_request,  // from now on the queue pair is in the error state
  access_error,
  operational_error,
  other,  // reserved
};
AckKind ack_kind(std::uint8_t syndrome);
/// "RNR NAK" ...
std::string_view name(AckKind kind);
/// Whether the request was refused for good.
constexpr bool is_fatal(AckKind kind) {
  return kind >= AckKind::invalid_request && kind <= AckKind::operational_error;
}

/// These read and write the octets named above. The caller has checked their number.
BaseHeader decode_base(const std::byte* from);
void encode(const BaseHeader& header, std::byte* to);
DatagramHeader decode_datagram(const std::byte* from);
void encode(const DatagramHeader& header, std::byte* to);
RdmaHeader decode_rdma(const std::byte* from);
void encode(const RdmaHeader& header, std::byte* to);
AtomicHeader decode_atomic(const std::byte* from);
void encode(const AtomicHeader& header, std::byte* to);
AckHeader decode_ack(const std::byte* from);
void encode(const AckHeader& header, std::byte* to);

}  // namespace steertag::rdma::infiniband
