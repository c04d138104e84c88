// Tests the redundant fields of an FPDU's header, and what follows it.
#include "capture/iwarp/mpa_sync.h"

#include <algorithm>

#include "rdma/iwarp/crc32c.h"
#include "rdma/iwarp/framing.h"
#include "rdma/iwarp/segment.h"
#include "rdma/iwarp/terminate.h"
#include "rdma/octets.h"

namespace steertag::capture::iwarp {
namespace {

using namespace rdma::iwarp;

constexpr std::byte kReservedDdpBits{0x3c};
constexpr std::byte kReservedRdmapBits{0x30};

bool agrees(const Segment& segment, std::size_t ulpdu_length) {
  const std::size_t payload = ulpdu_length - segment.header_bytes();
  if (segment.tagged) {
    return segment.opcode == Opcode::rdma_write || segment.opcode == Opcode::read_response;
  }
  const bool first = segment.mo == 0 && segment.last;
  switch (segment.qn) {
    case kSendQueue:
      return is_send(segment.opcode) && segment.msn != 0 &&
             (segment.stag == 0 || invalidates(segment.opcode));
    case kReadRequestQueue:
      return segment.opcode == Opcode::read_request && first && segment.stag == 0 &&
             payload == kReadRequestBytes;
    case kTerminateQueue:
      return segment.opcode == Opcode::terminate && first && segment.msn == 1 &&
             payload <= kMostTerminateBytes;
    case kReadRefusalQueue:
      return segment.opcode == Opcode::read_refusal && first && segment.stag == 0 &&
             payload == kReadRefusalBytes;
    default:
      return false;
  }
}

// An untagged header has a queue number that must match its opcode, and usually a zero word. Other
// octets do not match by chance. A tagged header has only eight redundant bits.
bool says_enough(View fpdu) {
  return !starts_tagged(fpdu[kUlpduLengthBytes]);
}

bool crc_agrees(View fpdu) {
  const View covered = fpdu.first(fpdu.size() - kCrcBytes);
  Crc32c crc;
  crc.update(covered);
  return crc.value() == load_crc(fpdu.data() + covered.size());
}

}  // namespace

std::size_t fpdu_header_bytes(View fpdu) {
  if (fpdu.size() <= kUlpduLengthBytes) return 0;
  return kUlpduLengthBytes +
         (starts_tagged(fpdu[kUlpduLengthBytes]) ? kTaggedHeaderBytes : kUntaggedHeaderBytes);
}

bool looks_like_fpdu(View fpdu) {
  const std::size_t header = fpdu_header_bytes(fpdu);
  if (header == 0 || fpdu.size() < header) return false;
  const std::size_t ulpdu_length = rdma::load16(fpdu.data());
  if (kUlpduLengthBytes + ulpdu_length < header) return false;
  const std::byte* ddp = fpdu.data() + kUlpduLengthBytes;
  if ((ddp[0] & kReservedDdpBits) != std::byte{0} ||
      (ddp[1] & kReservedRdmapBits) != std::byte{0}) {
    return false;
  }
  const Segment segment = decode_segment(ddp);
  return segment.ddp_version == kDdpVersion && segment.rdmap_version == kRdmapVersion &&
         agrees(segment, ulpdu_length);
}

Alignment alignment_of(View segment, std::size_t missing) {
  if (!looks_like_fpdu(segment)) return Alignment::none;
  const std::size_t whole = fpdu_bytes(rdma::load16(segment.data()));
  const std::size_t on_wire = segment.size() + missing;
  if (whole == on_wire) return Alignment::fpdu;
  if (whole > on_wire) return says_enough(segment) ? Alignment::fpdu : Alignment::doubtful;
  if (whole <= segment.size() && crc_agrees(segment.first(whole))) return Alignment::fpdu;
  const View next = segment.subspan(std::min(whole, segment.size()));
  const std::size_t next_header = fpdu_header_bytes(next);
  if (next_header != 0 && next.size() >= next_header) {
    return looks_like_fpdu(next) ? Alignment::fpdu : Alignment::none;
  }
  // Too little of what follows is captured.
  return says_enough(segment) ? Alignment::fpdu : Alignment::none;
}

}  // namespace steertag::capture::iwarp
