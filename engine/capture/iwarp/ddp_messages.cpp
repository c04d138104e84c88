// Checks MSN, offset and length of untagged messages as receivers do.
#include "capture/iwarp/ddp_messages.h"

#include <utility>

#include "rdma/iwarp/terminate.h"

namespace steertag::capture::iwarp {
namespace {

using namespace rdma::iwarp;

constexpr std::size_t kMostIdleBuffer = 4096;

bool is_cut(const Ulpdu& ulpdu) {
  return ulpdu.payload.size() < ulpdu.payload_length;
}

Completed lost(LossKind kind) {
  return {std::nullopt, kind, false};
}

}  // namespace

void DdpMessages::expect_first() {
  lose();
  send_msn_ = 1;
  read_msn_ = 1;
  refusal_msn_ = 1;
}

void DdpMessages::lose() {
  forget_message();
  in_message_ = false;
  broken_ = false;
  ready_to_receive_ = false;
  send_msn_.reset();
  read_msn_.reset();
  refusal_msn_.reset();
}

void DdpMessages::forget_message() {
  budget_.give(message_.size());
  if (message_.capacity() > kMostIdleBuffer) message_ = {};
  message_.clear();
}

Completed DdpMessages::take(const Ulpdu& ulpdu) {
  const Segment& segment = ulpdu.segment;
  if (segment.opcode == Opcode::rdma_write) {
    return {trace::RdmaWrite{segment.stag, segment.offset, ulpdu.payload_length, ulpdu.payload},
            std::nullopt, false};
  }
  if (segment.opcode == Opcode::read_response) {
    return {
        trace::RdmaReadResponse{segment.stag, segment.offset, ulpdu.payload_length, ulpdu.payload},
        std::nullopt, false};
  }
  if (segment.opcode == Opcode::read_request) return take_read_request(ulpdu);
  if (segment.opcode == Opcode::terminate) return take_terminate(ulpdu);
  if (segment.opcode == Opcode::read_refusal) return take_read_refusal(ulpdu);
  return take_send(ulpdu);
}

Completed DdpMessages::take_send(const Ulpdu& ulpdu) {
  const Segment& segment = ulpdu.segment;
  if (!in_message_) {
    forget_message();  // the view of the Send before it
    mo_ = 0;
    broken_ = false;
    opcode_ = segment.opcode;
  }
  std::optional<LossKind> fault;
  if (!broken_) fault = fault_of_send(ulpdu);
  const bool whole = !in_message_ && segment.last && !fault;
  if (!whole && !broken_ && !fault) fault = append(ulpdu);
  broken_ = broken_ || fault.has_value();
  in_message_ = !segment.last;
  mo_ += ulpdu.payload_length;
  send_msn_ = segment.last ? segment.msn + 1 : segment.msn;
  if (broken_) {
    forget_message();
    return {std::nullopt, fault, false};
  }
  if (in_message_) return {};
  if (std::exchange(ready_to_receive_, false) && mo_ == 0) return {};
  std::optional<std::uint32_t> invalidated;
  if (invalidates(segment.opcode)) invalidated = segment.stag;
  return {trace::Send{whole ? ulpdu.payload : View(message_), invalidated}, std::nullopt, false};
}

// RFC 5041 5.1: messages and their segments arrive in the order of MSN and MO.
std::optional<LossKind> DdpMessages::fault_of_send(const Ulpdu& ulpdu) const {
  const Segment& segment = ulpdu.segment;
  if (!send_msn_ && segment.mo != 0) return LossKind::missing;  // its beginning is unknown
  if (send_msn_ && segment.msn != *send_msn_) return LossKind::damaged;
  if (segment.mo != mo_ || segment.opcode != opcode_) return LossKind::damaged;
  if (is_cut(ulpdu)) return LossKind::cut;
  return std::nullopt;
}

std::optional<LossKind> DdpMessages::append(const Ulpdu& ulpdu) {
  if (message_.size() + ulpdu.payload.size() > kMostSendBytes || budget_.exceeded()) {
    return LossKind::overflow;
  }
  message_.insert(message_.end(), ulpdu.payload.begin(), ulpdu.payload.end());
  budget_.take(ulpdu.payload.size());
  return std::nullopt;
}

Completed DdpMessages::take_read_request(const Ulpdu& ulpdu) {
  const Segment& segment = ulpdu.segment;
  const bool expected = !read_msn_ || segment.msn == *read_msn_;
  read_msn_ = segment.msn + 1;
  if (!expected || segment.mo != 0 || !segment.last || ulpdu.payload_length != kReadRequestBytes) {
    return lost(LossKind::damaged);
  }
  if (is_cut(ulpdu)) return lost(LossKind::cut);
  const ReadRequest request = decode_read_request(ulpdu.payload.data());
  return {trace::RdmaRead{request.source_stag, request.source_offset, request.length}, std::nullopt,
          false};
}

Completed DdpMessages::take_terminate(const Ulpdu& ulpdu) {
  const Segment& segment = ulpdu.segment;
  // RFC 5040 5.4: it is the first and last message of its queue.
  if (segment.msn != 1 || segment.mo != 0 || ulpdu.payload_length > kMostTerminateBytes) {
    return lost(LossKind::damaged);
  }
  Completed completed;
  completed.terminated = true;
  if (const auto terminate = decode_terminate(ulpdu.payload)) {
    completed.body = *terminate;
  } else if (is_cut(ulpdu)) {
    completed.loss = LossKind::cut;
  }
  return completed;
}

Completed DdpMessages::take_read_refusal(const Ulpdu& ulpdu) {
  const Segment& segment = ulpdu.segment;
  const bool expected = !refusal_msn_ || segment.msn == *refusal_msn_;
  refusal_msn_ = segment.msn + 1;
  if (!expected || segment.mo != 0 || !segment.last || ulpdu.payload_length != kReadRefusalBytes) {
    return lost(LossKind::damaged);
  }
  if (is_cut(ulpdu)) return lost(LossKind::cut);
  const ReadRefusal refusal = decode_read_refusal(ulpdu.payload.data());
  return {trace::RdmaReadRefused{refusal.read_msn, refusal.cause}, std::nullopt, false};
}

}  // namespace steertag::capture::iwarp
