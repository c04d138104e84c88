// Framing of operations, gather lists and completion.
#include "fabric/iwarp/transmitter.h"

#include <algorithm>

#include "fabric/iwarp/formats.h"

namespace steertag::fabric::iwarp {
namespace {

bool tagged(Outgoing::Kind kind) {
  return kind == Outgoing::Kind::rdma_write || kind == Outgoing::Kind::read_response;
}

// Octets of the next segment of `rest`, each with at most `most`: about equal shares. A short
// segment at the end would cost the receiver a system call, and a copy of what follows it.
std::size_t share(std::uint64_t rest, std::size_t most) {
  if (rest <= most) {
    return static_cast<std::size_t>(rest);
  }
  const std::uint64_t segments = (rest + most - 1) / most;
  const std::uint64_t equal = (rest + segments - 1) / segments;
  return static_cast<std::size_t>(std::min<std::uint64_t>((equal + 3) / 4 * 4, most));
}

}  // namespace

void Outgoing::reset(Kind new_kind, WorkId new_id) {
  kind = new_kind;
  id = new_id;
  parts.clear();
  length = 0;
  stag = 0;
  offset = 0;
  invalidate = false;
  read = {};
  refusal = {};
  memory.reset();
  sink = nullptr;
  raw.clear();
  fault.reset();
  framed = 0;
  wire_octets = 0;
  part = 0;
  part_offset = 0;
  msn = 0;
}

bool Outgoing::altered() const {
  return fault &&
         (fault->bad_crc || fault->msn || fault->mo || fault->qn || fault->opcode ||
          fault->ddp_version || fault->rdmap_version || fault->ulpdu_length || fault->cut_after);
}

Outgoing& Transmitter::post(Outgoing::Kind kind, WorkId id) {
  Outgoing& operation = queue_.push();
  operation.reset(kind, id);
  return operation;
}

Outgoing& Transmitter::respond() {
  Outgoing& operation = responses_.push();
  operation.reset(Outgoing::Kind::read_response, 0);
  return operation;
}

bool Transmitter::can_start_posted() const {
  return queue_framed_ != queue_.end() &&
         (queue_.at(queue_framed_).kind != Outgoing::Kind::read_request || progress_.may_read());
}

// Chooses the ring of the next message to frame; a message in progress goes first.
bool Transmitter::choose() {
  if (closed_ || frames_.size() >= kMostStagedFrames) {
    return false;
  }
  if (current_ != Source::none) {
    return true;
  }
  const bool response = responses_framed_ != responses_.end();
  const bool posted = can_start_posted();
  if (!response && !posted) {
    return false;
  }
  current_ = response && (prefer_response_ || !posted) ? Source::responses : Source::queue;
  prefer_response_ = current_ == Source::queue;
  return true;
}

bool Transmitter::stage() {
  while (choose()) {
    frame_one();
  }
  return !frames_.empty();
}

void Transmitter::frame_one() {
  const std::uint64_t sequence = current_ == Source::queue ? queue_framed_ : responses_framed_;
  Outgoing& operation = ring(current_).at(sequence);
  if (operation.kind == Outgoing::Kind::read_response && !progress_.source_open(operation) &&
      operation.kind == Outgoing::Kind::read_response) {
    return;  // The connection is being terminated: closed_ is set.
  }
  Frame& frame = frames_.push();
  frame = {};
  frame.source = current_;
  frame.sequence = sequence;
  if (operation.kind == Outgoing::Kind::raw) {
    frame_raw(frame, operation);
  } else if (operation.kind == Outgoing::Kind::read_refusal) {
    frame_refusal(frame, operation);
  } else {
    frame_segment(frame, operation);
  }
  limit(frame, operation);
  if (frame.completes) {
    ++(current_ == Source::queue ? queue_framed_ : responses_framed_);
    current_ = Source::none;
  }
}

void Transmitter::frame_raw(Frame& frame, Outgoing& operation) {
  frame.part = 0;
  frame.part_offset = 0;
  frame.payload_bytes = operation.raw.size();
  operation.parts.assign(1, View(operation.raw));
  operation.framed = operation.raw.size();
  frame.completes = true;
}

Segment Transmitter::header_of(const Outgoing& operation, std::size_t payload_bytes) const {
  Segment segment;
  segment.tagged = tagged(operation.kind);
  segment.last = operation.framed + payload_bytes == operation.length;
  segment.stag = operation.stag;
  switch (operation.kind) {
    case Outgoing::Kind::rdma_write:
      segment.opcode = Opcode::rdma_write;
      break;
    case Outgoing::Kind::read_response:
      segment.opcode = Opcode::read_response;
      segment.stag ^= policy_.response_stag_mask;
      break;
    case Outgoing::Kind::read_request:
      segment.opcode = Opcode::read_request;
      segment.qn = kReadRequestQueue;
      break;
    default:
      segment.opcode = operation.invalidate ? Opcode::send_invalidate : Opcode::send;
      segment.qn = kSendQueue;
      break;
  }
  const bool write = operation.kind == Outgoing::Kind::rdma_write;
  segment.offset = operation.offset;
  if (!write || policy_.advances_offset) {
    segment.offset += operation.framed;
  }
  segment.msn = operation.msn;
  segment.mo = static_cast<std::uint32_t>(operation.framed);
  if (operation.fault) {
    const Fault& fault = *operation.fault;
    segment.msn = fault.msn.value_or(segment.msn);
    segment.mo += fault.mo.value_or(0);
    segment.qn = fault.qn.value_or(segment.qn);
    segment.opcode = fault.opcode ? static_cast<Opcode>(*fault.opcode) : segment.opcode;
    segment.ddp_version = fault.ddp_version.value_or(segment.ddp_version);
    segment.rdmap_version = fault.rdmap_version.value_or(segment.rdmap_version);
  }
  return segment;
}

void Transmitter::frame_segment(Frame& frame, Outgoing& operation) {
  const bool first = operation.framed == 0;
  const bool read_request = operation.kind == Outgoing::Kind::read_request;
  if (first && !tagged(operation.kind)) {
    operation.msn = read_request ? read_msn_++ : send_msn_++;
  }
  const std::size_t header = tagged(operation.kind) ? kTaggedHeaderBytes : kUntaggedHeaderBytes;
  const std::size_t payload = share(operation.length - operation.framed, mulpdu_ - header);
  const Segment segment = header_of(operation, payload);
  if (first || tagged(operation.kind)) {
    progress_.on_framed(operation, operation.framed, payload);
  }
  if (read_request) {
    encode(operation.read, frame.header.data() + kUlpduLengthBytes + header);
    progress_.on_read_queued(operation, operation.read.sink_stag);
  }
  frame.payload_bytes = payload;
  frame.completes = operation.framed + payload == operation.length;
  seal(frame, segment, &operation,
       read_request ? std::min(policy_.read_request_bytes, kMostTerminateBytes) : 0);
  operation.framed += payload;
}

// Segments of a response that were framed before keep their payload in the operation.
void Transmitter::frame_refusal(Frame& frame, Outgoing& operation) {
  Segment segment;
  segment.opcode = Opcode::read_refusal;
  segment.qn = kReadRefusalQueue;
  segment.msn = refusal_msn_++;
  progress_.on_framed(operation, 0, 0);
  ReadRefusal refusal = operation.refusal;
  refusal.read_msn += policy_.refusal_msn_offset;
  encode(refusal, frame.header.data() + kUlpduLengthBytes + kUntaggedHeaderBytes);
  frame.completes = true;
  seal(frame, segment, nullptr, kReadRefusalBytes);
}

// Writes length, DDP header and trailer around `content` octets after the header and the frame's
// payload. The payload comes from the operation.
void Transmitter::seal(Frame& frame, const Segment& segment, Outgoing* operation,
                       std::size_t content) {
  const std::size_t ulpdu = segment.header_bytes() + content + frame.payload_bytes;
  auto length = static_cast<std::uint16_t>(ulpdu);
  if (operation != nullptr && operation->fault && operation->fault->ulpdu_length) {
    length = *operation->fault->ulpdu_length;
  }
  store16(frame.header.data(), length);
  encode(segment, frame.header.data() + kUlpduLengthBytes);
  frame.header[kUlpduLengthBytes] |= policy_.reserved_ddp;
  frame.header[kUlpduLengthBytes + 1] |= policy_.reserved_rdmap;
  frame.header_bytes = kUlpduLengthBytes + segment.header_bytes() + content;
  Crc32c crc;
  if (use_crc_) {
    crc.update(View(frame.header.data(), frame.header_bytes));
  }
  if (operation != nullptr) {
    take_payload(frame, *operation, frame.payload_bytes, use_crc_ ? &crc : nullptr);
  }
  frame.trailer_bytes = encode_trailer(ulpdu, crc, use_crc_, frame.trailer.data(), policy_.pad);
  if (policy_.crc_order == std::endian::big) {
    const auto end = frame.trailer.begin() + static_cast<std::ptrdiff_t>(frame.trailer_bytes);
    std::reverse(end - kCrcBytes, end);
  }
  if (operation != nullptr && operation->fault && operation->fault->bad_crc) {
    frame.trailer[frame.trailer_bytes - 1] ^= std::byte{0xff};
  }
}

void Transmitter::take_payload(Frame& frame, Outgoing& operation, std::size_t bytes, Crc32c* crc) {
  while (operation.part < operation.parts.size() &&
         operation.part_offset == operation.parts[operation.part].size()) {
    ++operation.part;
    operation.part_offset = 0;
  }
  frame.part = operation.part;
  frame.part_offset = operation.part_offset;
  while (bytes > 0) {
    const View part = operation.parts[operation.part].subspan(operation.part_offset);
    const View piece = part.first(std::min(part.size(), bytes));
    if (crc != nullptr) {
      crc->update(piece);
    }
    bytes -= piece.size();
    operation.part_offset += piece.size();
    if (piece.size() == part.size()) {
      ++operation.part;
      operation.part_offset = 0;
    }
  }
}

void Transmitter::limit(Frame& frame, Outgoing& operation) {
  const std::size_t whole = frame.header_bytes + frame.payload_bytes + frame.trailer_bytes;
  frame.allowed = whole;
  if (operation.fault && operation.fault->cut_after) {
    const std::size_t left = *operation.fault->cut_after - operation.wire_octets;
    frame.allowed = std::min(whole, left);
    frame.cuts = frame.allowed < whole || frame.completes;
    closed_ = closed_ || frame.cuts;
  }
  operation.wire_octets += frame.allowed;
}

template <class Visit>
void Transmitter::for_payload(const Frame& frame, Visit visit) {
  if (frame.payload_bytes == 0) {
    return;
  }
  if (!frame.held.empty()) {
    visit(View(frame.held));
    return;
  }
  const Outgoing& operation = ring(frame.source).at(frame.sequence);
  std::size_t left = frame.payload_bytes;
  std::size_t offset = frame.part_offset;
  for (std::size_t part = frame.part; left > 0; ++part, offset = 0) {
    const View rest = operation.parts[part].subspan(offset);
    const View piece = rest.first(std::min(rest.size(), left));
    visit(piece);
    left -= piece.size();
  }
}

std::span<const iovec> Transmitter::gather(std::array<iovec, kMostIovecs>& room) {
  std::size_t used = 0;
  std::size_t skip = front_left_;
  const auto add = [&](const std::byte* from, std::size_t bytes, std::size_t& allowed) {
    bytes = std::min(bytes, allowed);
    allowed -= bytes;
    const std::size_t skipped = std::min(skip, bytes);
    skip -= skipped;
    if (bytes > skipped && used < room.size()) {
      // sendmsg does not write through it; the type has no const form.
      room[used++] = {const_cast<std::byte*>(from + skipped), bytes - skipped};
    }
  };
  for (std::uint64_t i = frames_.first(); i < frames_.end() && used < room.size(); ++i) {
    const Frame& frame = frames_.at(i);
    std::size_t allowed = frame.allowed;
    add(frame.header.data(), frame.header_bytes, allowed);
    for_payload(frame, [&](View piece) { add(piece.data(), piece.size(), allowed); });
    add(frame.trailer.data(), frame.trailer_bytes, allowed);
  }
  return {room.data(), used};
}

// Without a CRC there is nothing that later octets could contradict.
void Transmitter::hold_responses() {
  std::size_t left = front_left_;
  for (std::uint64_t i = frames_.first(); use_crc_ && i < frames_.end(); ++i) {
    Frame& frame = frames_.at(i);
    const bool leaves = left >= frame.allowed;
    left = leaves ? left - frame.allowed : 0;
    if (leaves || frame.source != Source::responses || !frame.held.empty()) {
      continue;
    }
    Bytes held;
    held.reserve(frame.payload_bytes);
    for_payload(frame, [&](View piece) { held.insert(held.end(), piece.begin(), piece.end()); });
    frame.held = std::move(held);
  }
}

void Transmitter::sent(std::size_t count) {
  front_left_ += count;
  hold_responses();  // before notices, in which the owner may do anything
  while (!frames_.empty() && front_left_ >= frames_.front().allowed) {
    Frame& frame = frames_.front();
    front_left_ -= frame.allowed;
    if (frame.cuts) {
      cut_reached_ = true;
      frames_.clear();
      return;
    }
    complete(frame);
  }
}

void Transmitter::complete(Frame& frame) {
  const Source source = frame.source;
  const bool completes = frame.completes;
  frame.held = Bytes();  // a popped slot keeps its value
  frames_.pop();
  if (source == Source::none || !completes) {
    return;
  }
  Outgoing& operation = ring(source).front();
  const Outgoing::Kind kind = operation.kind;
  const WorkId id = operation.id;
  operation.memory.reset();
  operation.raw.clear();
  ring(source).pop();
  progress_.on_left(kind, id);
}

void Transmitter::terminate(const TerminateMessage& message) {
  closed_ = true;
  current_ = Source::none;
  while (frames_.size() > 1 || (frames_.size() == 1 && front_left_ == 0)) {
    frames_.pop_back();
  }
  Frame& frame = frames_.push();
  frame = {};
  const std::size_t content =
      encode(message, frame.header.data() + kUlpduLengthBytes + kUntaggedHeaderBytes);
  Segment segment;
  segment.opcode = Opcode::terminate;
  segment.qn = policy_.terminate_queue;
  segment.msn = 1;
  seal(frame, segment, nullptr, content);
  frame.allowed = frame.header_bytes + frame.trailer_bytes;
}

void Transmitter::drop_all() {
  closed_ = true;
  frames_.clear();
  front_left_ = 0;
}

}  // namespace steertag::fabric::iwarp
