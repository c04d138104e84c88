// Encoding and decoding of DDP segment headers and of Read Requests.
#include "rdma/iwarp/segment.h"

#include "rdma/octets.h"

namespace steertag::rdma::iwarp {

std::string_view name(Opcode opcode) {
  switch (opcode) {
    case Opcode::rdma_write:
      return "RDMA Write";
    case Opcode::read_request:
      return "RDMA Read Request";
    case Opcode::read_response:
      return "RDMA Read Response";
    case Opcode::send:
      return "Send";
    case Opcode::send_invalidate:
      return "Send with Invalidate";
    case Opcode::send_solicited:
      return "Send with Solicited Event";
    case Opcode::send_solicited_invalidate:
      return "Send with Solicited Event and Invalidate";
    case Opcode::terminate:
      return "Terminate";
    case Opcode::read_refusal:
      return "RDMA Read Refusal";
  }
  return "unknown opcode";
}

void encode(const Segment& segment, std::byte* to) {
  store8(to, static_cast<std::uint8_t>((segment.tagged ? 0x80 : 0) | (segment.last ? 0x40 : 0) |
                                       (segment.ddp_version & 3)));
  store8(to + 1, static_cast<std::uint8_t>((segment.rdmap_version & 3) << 6 |
                                           (static_cast<std::uint8_t>(segment.opcode) & 15)));
  store32(to + 2, segment.stag);
  if (segment.tagged) {
    store64(to + 6, segment.offset);
    return;
  }
  store32(to + 6, segment.qn);
  store32(to + 10, segment.msn);
  store32(to + 14, segment.mo);
}

Segment decode_segment(const std::byte* from) {
  Segment segment;
  const std::uint8_t ddp = load8(from);
  const std::uint8_t rdmap = load8(from + 1);
  segment.tagged = starts_tagged(*from);
  segment.last = (ddp & 0x40) != 0;
  segment.ddp_version = ddp & 3;
  segment.rdmap_version = static_cast<std::uint8_t>(rdmap >> 6);
  segment.opcode = static_cast<Opcode>(rdmap & 15);
  segment.stag = load32(from + 2);
  if (segment.tagged) {
    segment.offset = load64(from + 6);
    return segment;
  }
  segment.qn = load32(from + 6);
  segment.msn = load32(from + 10);
  segment.mo = load32(from + 14);
  return segment;
}

void encode(const ReadRequest& request, std::byte* to) {
  store32(to, request.sink_stag);
  store64(to + 4, request.sink_offset);
  store32(to + 12, request.length);
  store32(to + 16, request.source_stag);
  store64(to + 20, request.source_offset);
}

ReadRequest decode_read_request(const std::byte* from) {
  ReadRequest request;
  request.sink_stag = load32(from);
  request.sink_offset = load64(from + 4);
  request.length = load32(from + 12);
  request.source_stag = load32(from + 16);
  request.source_offset = load64(from + 20);
  return request;
}

}  // namespace steertag::rdma::iwarp
