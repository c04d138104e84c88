// Transport opcodes and their extended headers (InfiniBand specification, chapter 9).
#pragma once

#include <cstdint>
#include <string_view>

#include "support/bytes.h"

namespace steertag::rdma::infiniband {

/// Opcodes of the reliable connected service, of management datagrams, and of congestion. The upper
/// three bits are the service.
enum class Opcode : std::uint8_t {
  send_first = 0x00,
  send_middle = 0x01,
  send_last = 0x02,
  send_last_immediate = 0x03,
  send_only = 0x04,
  send_only_immediate = 0x05,
  write_first = 0x06,
  write_middle = 0x07,
  write_last = 0x08,
  write_last_immediate = 0x09,
  write_only = 0x0a,
  write_only_immediate = 0x0b,
  read_request = 0x0c,
  read_response_first = 0x0d,
  read_response_middle = 0x0e,
  read_response_last = 0x0f,
  read_response_only = 0x10,
  acknowledge = 0x11,
  atomic_acknowledge = 0x12,
  compare_swap = 0x13,
  fetch_add = 0x14,
  send_last_invalidate = 0x16,
  send_only_invalidate = 0x17,
  datagram_send_only = 0x64,
  datagram_send_only_immediate = 0x65,
  congestion_notification = 0x81,  // of RoCEv2
};
/// "RDMA WRITE First", or "unknown opcode".
std::string_view name(Opcode opcode);

/// The meaning of an opcode for its packet's message.
enum class Operation : std::uint8_t {
  none,  // another service, or an undefined opcode
  send,
  write,
  read_request,
  atomic_request,
  read_response,
  acknowledge,  // also that of an atomic operation
  datagram,
  congestion,
};

struct OpcodeTraits {
  Operation operation = Operation::none;
  bool first = false;  // starts its message
  bool last = false;   // ends its message
  bool datagram = false;
  bool reth = false;
  bool atomic = false;
  bool aeth = false;
  bool atomic_ack = false;
  bool immediate = false;
  bool invalidate = false;

  /// Requests count in the sender's PSNs, responses in the receiver's.
  bool is_request() const {
    return operation >= Operation::send && operation <= Operation::atomic_request;
  }
  bool is_response() const {
    return operation == Operation::read_response || operation == Operation::acknowledge;
  }
  /// Octets of the extended headers between base header and payload.
  std::size_t extension_bytes() const;
};
const OpcodeTraits& traits(Opcode opcode);

}  // namespace steertag::rdma::infiniband
