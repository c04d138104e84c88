// Protection and sequence checks of incoming segments, and their delivery.
#include "fabric/iwarp/message_receiver.h"

#include <algorithm>

#include "rdma/text.h"

namespace steertag::fabric::iwarp {
namespace {

Unexpected<Violation> refuse(const trace::Terminate& cause, std::string detail) {
  return tl::unexpected(Violation{cause, std::move(detail), true, {}});
}

using Longest = unsigned long long;

bool wraps(std::uint64_t offset, std::uint64_t length) {
  return offset + length < offset;
}

std::optional<Violation> check_control(const Segment& segment, const ReceivePolicy& policy,
                                       bool recovers) {
  if (segment.ddp_version != kDdpVersion) {
    return Violation{segment.tagged ? cause::kTaggedVersion : cause::kUntaggedVersion,
                     text("DDP version %u instead of 1 (RFC 5041 4.1)", segment.ddp_version),
                     true,
                     {}};
  }
  if (!policy.checks_control) {
    return std::nullopt;
  }
  if (segment.rdmap_version != kRdmapVersion) {
    return Violation{cause::kRdmapVersion,
                     text("RDMAP version %u instead of 1 (RFC 5040 4.2)", segment.rdmap_version),
                     true,
                     {}};
  }
  bool expected = false;
  if (segment.tagged) {
    expected = segment.opcode == Opcode::rdma_write || segment.opcode == Opcode::read_response;
  } else if (segment.qn == kSendQueue) {
    expected = is_send(segment.opcode) &&
               (segment.opcode != Opcode::send_solicited || policy.takes_solicited);
  } else if (segment.qn == kReadRequestQueue) {
    expected = segment.opcode == Opcode::read_request;
  } else if (segment.qn == kTerminateQueue) {
    expected = segment.opcode == Opcode::terminate;
  } else if (segment.qn == kReadRefusalQueue && recovers) {
    expected = segment.opcode == Opcode::read_refusal;
  } else {
    return Violation{
        cause::kInvalidQn, text("queue number %u (RFC 5040 4.4)", segment.qn), true, {}};
  }
  if (!expected) {
    const auto opcode = static_cast<unsigned>(segment.opcode);
    return Violation{cause::kUnexpectedOpcode,
                     segment.tagged
                         ? text("opcode %u in a tagged segment (RFC 5040 4.3)", opcode)
                         : text("opcode %u on queue %u (RFC 5040 4.3)", opcode, segment.qn),
                     true,
                     {}};
  }
  return std::nullopt;
}

}  // namespace

// Its event is to be seen, although the queue is invalid.
bool MessageReceiver::is_unagreed_refusal(const Segment& segment, std::size_t bytes) const {
  return !recovers_ && policy_.checks_control && !segment.tagged &&
         segment.qn == kReadRefusalQueue && segment.opcode == Opcode::read_refusal &&
         !check_control(segment, policy_, true) && segment.last && bytes == kReadRefusalBytes;
}

Expected<MutableView, Violation> MessageReceiver::place(const Segment& segment,
                                                        std::size_t payload_bytes) {
  if (is_unagreed_refusal(segment, payload_bytes)) return MutableView(refusal_);
  if (auto violation = check_control(segment, policy_, recovers_)) {
    return tl::unexpected(std::move(*violation));
  }
  if (segment.tagged) {
    return segment.opcode == Opcode::rdma_write ? place_write(segment, payload_bytes)
                                                : place_response(segment, payload_bytes);
  }
  switch (segment.qn) {
    case kSendQueue:
      return place_send(segment, payload_bytes);
    case kReadRequestQueue:
      return place_read_request(segment, payload_bytes);
    case kReadRefusalQueue:
      return place_refusal(segment, payload_bytes);
    default:
      return place_terminate(segment, payload_bytes);
  }
}

Expected<MutableView, Violation> MessageReceiver::place_write(const Segment& segment,
                                                              std::size_t bytes) {
  if (bytes == 0 && !policy_.checks_empty_write) {
    return MutableView{};  // RFC 5041 5.2: STag and TO of a zero-length Write are not checked.
  }
  SoftwareRegion* region = domain_.table().find(segment.stag);
  const Longest offset = segment.offset;
  if (region == nullptr) {
    return refuse(
        cause::kTaggedStag,
        text("RDMA Write to STag 0x%08x, which is not valid (RFC 5041 7.1)", segment.stag));
  }
  if (&region->domain() != &domain_) {
    return refuse(cause::kTaggedNotAssociated,
                  text("RDMA Write to STag 0x%08x of another protection domain (RFC 5041 8.2)",
                       segment.stag));
  }
  // RFC 5041 7.2 has no code for rights: the STag has no buffer that allows placement.
  if (!region->rights().remote_write) {
    return refuse(cause::kTaggedStag,
                  text("RDMA Write to STag 0x%08x, which is not open for writing (RFC 5041 7.1)",
                       segment.stag));
  }
  if (wraps(segment.offset, bytes)) {
    return refuse(cause::kTaggedWrap, text("RDMA Write of %zu octets at 0x%016llx wraps (RFC 5041 "
                                           "7.1)",
                                           bytes, offset));
  }
  if (!region->contains(segment.offset, bytes)) {
    return refuse(cause::kTaggedBounds,
                  text("RDMA Write of %zu octets at 0x%016llx leaves STag 0x%08x (base 0x%016llx, "
                       "length %zu; RFC 5041 7.1)",
                       bytes, offset, segment.stag, static_cast<Longest>(region->base()),
                       region->open_length()));
  }
  return MutableView(region->at(segment.offset), bytes);
}

Expected<MutableView, Violation> MessageReceiver::place_response(const Segment& segment,
                                                                 std::size_t bytes) {
  if (reads_.empty()) {
    return refuse(cause::kUnexpectedOpcode,
                  "RDMA Read Response without an outstanding Read Request (RFC 5040 5.2.2)");
  }
  const PendingRead& read = reads_.front();
  if (bytes == 0) {
    return MutableView{};
  }
  if (segment.stag != read.sink_stag) {
    return refuse(cause::kTaggedStag,
                  text("RDMA Read Response to STag 0x%08x instead of the requested 0x%08x (RFC "
                       "5040 5.2.2)",
                       segment.stag, read.sink_stag));
  }
  if (wraps(segment.offset, bytes)) {
    return refuse(cause::kTaggedWrap, "RDMA Read Response wraps (RFC 5041 7.1)");
  }
  if (segment.offset != read.sink_offset + read.received || bytes > read.length - read.received) {
    return refuse(cause::kTaggedBounds,
                  text("RDMA Read Response of %zu octets at 0x%016llx, after %u of %u octets from "
                       "0x%016llx (RFC 5040 5.2.2)",
                       bytes, static_cast<Longest>(segment.offset), read.received, read.length,
                       static_cast<Longest>(read.sink_offset)));
  }
  return MutableView(read.place + read.received, bytes);
}

Expected<MutableView, Violation> MessageReceiver::place_send(const Segment& segment,
                                                             std::size_t bytes) {
  if (segment.msn != send_msn_ && policy_.checks_send_msn) {
    return refuse(cause::kInvalidMsn,
                  text("Send with MSN %u instead of %u (RFC 5041 5.1)", segment.msn, send_msn_));
  }
  if (receives_.empty()) {
    return refuse(cause::kNoBuffer,
                  text("Send with MSN %u finds no posted receive (RFC 5041 7.1)", segment.msn));
  }
  if (in_message_ && segment.opcode != send_opcode_) {
    return refuse(cause::kUnexpectedOpcode, "the opcode changes inside a Send (RFC 5040 4.3)");
  }
  // TCP keeps the order, so a segment continues the one before it.
  if (segment.mo != send_mo_) {
    return refuse(
        cause::kInvalidMo,
        text("Send with message offset %u instead of %u (RFC 5041 5.1)", segment.mo, send_mo_));
  }
  const MutableView buffer = receives_.front().buffer;
  if (bytes > buffer.size() - send_mo_) {
    return refuse(cause::kTooLong,
                  text("Send of %llu octets or more for a posted receive of %zu (RFC 5041 7.1)",
                       static_cast<Longest>(send_mo_) + bytes, buffer.size()));
  }
  return buffer.subspan(send_mo_, bytes);
}

Expected<MutableView, Violation> MessageReceiver::place_read_request(const Segment& segment,
                                                                     std::size_t bytes) {
  if (segment.msn != read_msn_) {
    return refuse(cause::kInvalidMsn, text("Read Request with MSN %u instead of %u (RFC 5041 5.1)",
                                           segment.msn, read_msn_));
  }
  if (inbound_reads_ >= ird_) {
    return refuse(cause::kNoBuffer, text("Read Request beyond the IRD of %u (RFC 5040 5.2.1)",
                                         static_cast<unsigned>(ird_)));
  }
  if (segment.mo != 0) {
    return refuse(cause::kInvalidMo,
                  text("Read Request with message offset %u (RFC 5041 5.1)", segment.mo));
  }
  if (bytes > kReadRequestBytes) {
    return refuse(cause::kTooLong,
                  text("Read Request of %zu octets instead of 28 (RFC 5040 4.4)", bytes));
  }
  if (bytes < kReadRequestBytes || !segment.last) {
    return refuse(cause::kUnspecified,
                  text("Read Request of %zu octets%s instead of 28 (RFC 5040 4.4)", bytes,
                       segment.last ? "" : " and more"));
  }
  return MutableView(read_request_);
}

Expected<MutableView, Violation> MessageReceiver::place_terminate(const Segment& segment,
                                                                  std::size_t bytes) {
  if (segment.msn != 1 || segment.mo != 0) {
    return refuse(segment.msn != 1 ? cause::kInvalidMsn : cause::kInvalidMo,
                  "Terminate that is not the first message of its queue (RFC 5040 5.4)");
  }
  if (bytes > terminate_.size()) {
    return refuse(cause::kTooLong, text("Terminate of %zu octets (RFC 5040 4.8)", bytes));
  }
  return MutableView(terminate_).first(bytes);
}

Expected<MutableView, Violation> MessageReceiver::place_refusal(const Segment& segment,
                                                                std::size_t bytes) {
  if (segment.msn != refusal_msn_ || segment.mo != 0) {
    return refuse(segment.mo == 0 ? cause::kInvalidMsn : cause::kInvalidMo,
                  text("refusal with MSN %u, offset %u instead of %u, 0 (RFC 5041 5.1)",
                       segment.msn, segment.mo, refusal_msn_));
  }
  if (bytes != kReadRefusalBytes || !segment.last) {
    return refuse(
        bytes > kReadRefusalBytes ? cause::kTooLong : cause::kUnspecified,
        text("refusal of %zu octets%s instead of 8", bytes, segment.last ? "" : " and more"));
  }
  return MutableView(refusal_);
}

std::optional<Violation> MessageReceiver::deliver(const Segment& segment, MutableView payload) {
  if (segment.tagged) {
    if (segment.opcode == Opcode::rdma_write) {
      delivery_.on_write_segment(segment, payload);
      return std::nullopt;
    }
    return deliver_response(segment, payload);
  }
  switch (segment.qn) {
    case kSendQueue:
      return deliver_send(segment, payload);
    case kReadRequestQueue:
      return deliver_read_request();
    case kReadRefusalQueue:
      return deliver_refusal();
    default:
      delivery_.on_terminate(payload);
      return std::nullopt;
  }
}

std::optional<Violation> MessageReceiver::deliver_send(const Segment& segment,
                                                       MutableView payload) {
  send_mo_ += static_cast<std::uint32_t>(payload.size());
  send_opcode_ = segment.opcode;
  in_message_ = !segment.last;
  if (in_message_) {
    return std::nullopt;
  }
  std::optional<std::uint32_t> invalidated;
  if (invalidates(segment.opcode) && policy_.invalidates) {
    const SoftwareRegion* region = domain_.table().find(segment.stag);
    if (region == nullptr || &region->domain() != &domain_ || !region->remotely_open()) {
      return Violation{cause::kCannotInvalidate,
                       text("Send with Invalidate of STag 0x%08x, which is not valid on this "
                            "stream (RFC 5040 5.3)",
                            segment.stag),
                       true,
                       {}};
    }
    invalidated = segment.stag;
  }
  const PostedReceive receive = receives_.front();
  const MutableView bytes = receive.buffer.first(send_mo_);
  receives_.pop();
  ++send_msn_;
  send_mo_ = 0;
  delivery_.on_message(receive, bytes, invalidated);
  return std::nullopt;
}

std::optional<Violation> MessageReceiver::check_source(const ReadRequest& request) const {
  if (request.length == 0) {
    return std::nullopt;  // RFC 5040 7.2: nothing is checked for zero length.
  }
  const auto refusal = [&](const trace::Terminate& cause, const char* what) {
    return Violation{cause,
                     text("RDMA Read of %u octets at 0x%016llx from STag 0x%08x %s (RFC 5040 7.2)",
                          request.length, static_cast<Longest>(request.source_offset),
                          request.source_stag, what),
                     true, request};
  };
  const SoftwareRegion* region = domain_.table().find(request.source_stag);
  if (region == nullptr) {
    return refusal(cause::kReadStag, "which is not valid");
  }
  if (&region->domain() != &domain_) {
    return refusal(cause::kReadNotAssociated, "of another protection domain");
  }
  if (!region->rights().remote_read) {
    return refusal(cause::kReadRights, "which is not open for reading");
  }
  if (wraps(request.source_offset, request.length)) {
    return refusal(cause::kReadWrap, "wraps");
  }
  if (!region->contains(request.source_offset, request.length)) {
    return refusal(cause::kReadBounds, "leaves the region");
  }
  return std::nullopt;
}

std::optional<Violation> MessageReceiver::deliver_read_request() {
  const ReadRequest request = decode_read_request(read_request_.data());
  const std::uint32_t msn = read_msn_;
  if (auto violation = check_source(request)) {
    const bool refuses = policy_.refuses_read;
    if (refuses && !recovers_) {
      delivery_.on_read_refused(request, {msn, violation->cause}, false);
      return violation;
    }
    ++read_msn_;
    ++inbound_reads_;
    if (refuses) {
      delivery_.on_read_refused(request, {msn, violation->cause}, true);
    } else {
      delivery_.on_read_request(request, msn, nullptr);
    }
    return std::nullopt;
  }
  ++read_msn_;
  if (request.length == 0 && !policy_.answers_empty_read) {
    return std::nullopt;
  }
  ++inbound_reads_;
  delivery_.on_read_request(
      request, msn, request.length == 0 ? nullptr : domain_.table().find(request.source_stag));
  return std::nullopt;
}

std::optional<Violation> MessageReceiver::deliver_response(const Segment& segment, View payload) {
  PendingRead& read = reads_.front();
  read.received += static_cast<std::uint32_t>(payload.size());
  const bool complete = read.received == read.length;
  if (segment.last != complete) {
    return Violation{cause::kUnspecified,
                     text("RDMA Read Response %s after %u of %u octets (RFC 5040 5.2.2)",
                          segment.last ? "ends" : "goes on", read.received, read.length),
                     true,
                     {}};
  }
  delivery_.on_response_segment(segment, payload);
  if (complete) {
    const WorkId id = read.id;
    read.memory.reset();
    reads_.pop();
    delivery_.on_read_done(id);
  }
  return std::nullopt;
}

// Reads are answered in the order of their requests, so a refusal is for the oldest. Segments of a
// response may have come before it: its source was closed meanwhile.
std::optional<Violation> MessageReceiver::deliver_refusal() {
  const ReadRefusal refusal = decode_read_refusal(refusal_.data());
  delivery_.on_refusal(refusal);
  const auto violation = [](const trace::Terminate& cause, std::string detail) {
    return Violation{cause, std::move(detail), true, {}};
  };
  if (!recovers_) {
    return violation(cause::kInvalidQn, text("queue number %u (RFC 5040 4.4)", kReadRefusalQueue));
  }
  if (reads_.empty()) {
    return violation(cause::kUnexpectedOpcode, "refusal without an outstanding Read Request");
  }
  PendingRead& read = reads_.front();
  if (refusal.read_msn != read.msn) {
    return violation(
        cause::kUnspecified,
        text("refusal of Read Request %u instead of the oldest, %u", refusal.read_msn, read.msn));
  }
  if (!is_of_read_memory(refusal.cause)) {
    return violation(
        cause::kUnspecified,
        text("refusal of Read Request %u for another cause than its memory (%u/%u/%u)",
             refusal.read_msn, refusal.cause.layer, refusal.cause.type, refusal.cause.code));
  }
  ++refusal_msn_;
  const WorkId id = read.id;
  read.memory.reset();
  reads_.pop();
  delivery_.on_refused(id, refusal);
  return std::nullopt;
}

}  // namespace steertag::fabric::iwarp
