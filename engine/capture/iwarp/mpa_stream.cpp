// Reads startup frames and FPDUs; an FPDU in one piece is not copied.
#include "capture/iwarp/mpa_stream.h"

#include <algorithm>

#include "capture/iwarp/mpa_markers.h"
#include "capture/iwarp/mpa_sync.h"
#include "rdma/iwarp/crc32c.h"
#include "rdma/iwarp/framing.h"
#include "rdma/octets.h"

namespace steertag::capture::iwarp {
namespace {

using namespace rdma::iwarp;

// Larger buffers are freed, since a capture has many connections.
constexpr std::size_t kMostIdleBuffer = 4096;

struct Startups {
  StartupKind kind = StartupKind::request;
  std::size_t missing_response = 0;
};

/// The kind of startup frame, and the number of octets missing from it. The first nine octets do
/// not decide the kind; it counts as a request until then. Nothing for other octets.
std::optional<Startups> startup_of(View so_far, std::optional<StartupKind> expected) {
  for (const StartupKind kind : {StartupKind::request, StartupKind::reply}) {
    if (expected && *expected != kind) continue;
    if (const auto missing_response = octets_lacking(kind, so_far))
      return Startups{kind, *missing_response};
  }
  return std::nullopt;
}

// The receiver's checks of a header (RFC 5040 4.2, 4.3, RFC 5041 4.1).
bool acceptable(const Segment& segment) {
  if (segment.ddp_version != kDdpVersion || segment.rdmap_version != kRdmapVersion) return false;
  if (segment.tagged) {
    return segment.opcode == Opcode::rdma_write || segment.opcode == Opcode::read_response;
  }
  switch (segment.qn) {
    case kSendQueue:
      return is_send(segment.opcode);
    case kReadRequestQueue:
      return segment.opcode == Opcode::read_request;
    case kTerminateQueue:
      return segment.opcode == Opcode::terminate;
    case kReadRefusalQueue:  // the judge knows whether both sides agreed
      return segment.opcode == Opcode::read_refusal;
    default:
      return false;
  }
}

bool crc_is_wrong(View fpdu) {
  Crc32c crc;
  crc.update(fpdu.first(fpdu.size() - kCrcBytes));
  return crc.value() != load_crc(fpdu.data() + fpdu.size() - kCrcBytes);
}

}  // namespace

void MpaStream::Run::pass(std::size_t count) {
  const std::size_t there = std::min(count, octets.size());
  octets = octets.subspan(there);
  missing -= count - there;
  position += count;
}

void MpaStream::expect_reply() {
  expected_ = StartupKind::reply;
  if (state_ == State::fresh) state_ = State::startup;
}

void MpaStream::release() {
  stop();
  partial_ = {};
  stripped_ = {};
}

void MpaStream::take(const Piece& piece, bool at_start) {
  stamp_ = piece.stamp;
  Run run{piece.octets, piece.missing, piece.begin};
  begin(piece, at_start);
  if (state_ == State::startup) take_startup(run);
  if (use_markers_ && (state_ == State::framed || state_ == State::unaligned)) strip(run);
  if (state_ == State::unaligned) align(run, piece.starts_segment && run.position == piece.begin);
  if (state_ == State::framed) take_fpdus(run);
  if (state_ == State::stopped && !run.done()) lose(LossKind::damaged);
}

/// Checks whether the piece begins a startup frame.
void MpaStream::begin(const Piece& piece, bool at_start) {
  if (state_ == State::fresh) state_ = at_start ? State::startup : State::unaligned;
  if (state_ != State::unaligned || was_framed_ || !piece.starts_segment) return;
  // The capture may begin here, or lack what precedes.
  const bool whole_key = piece.octets.size() >= kStartupKeyBytes;
  if (whole_key && startup_of(piece.octets, expected_)) state_ = State::startup;
}

void MpaStream::take_startup(Run& run) {
  for (;;) {  // each turn consumes octets or ends
    const auto startup = startup_of(partial_, expected_);
    if (!startup) {
      forget_partial();
      state_ = State::stopped;
      sink_.on_no_startup(side_, stamp_);
      return;
    }
    if (startup->missing_response == 0) return end_startup(run, startup->kind);
    if (run.done()) return;
    const View octets = run.octets.first(std::min(run.octets.size(), startup->missing_response));
    if (!octets.empty()) {
      partial_.insert(partial_.end(), octets.begin(), octets.end());
      run.pass(octets.size());
    } else if (partial_.size() < kStartupHeaderBytes) {
      return lose_alignment(LossKind::cut);
    } else {
      // The header gives the size of the missing private data.
      const std::size_t count = std::min(run.missing, startup->missing_response);
      partial_.resize(partial_.size() + count);
      startup_cut_ = true;
      run.pass(count);
    }
  }
}

void MpaStream::end_startup(const Run& run, StartupKind kind) {
  auto frame = decode_startup(kind, partial_);
  forget_partial();
  state_ = State::framed;
  was_framed_ = true;
  operation_begin_ = run.position;
  if (frame) sink_.on_startup(side_, stamp_, {std::move(*frame), startup_cut_});
}

/// Replaces the run by a copy without markers.
void MpaStream::strip(Run& run) {
  if (!operation_begin_ || run.position < *operation_begin_) return;
  const std::uint64_t offset = run.position - *operation_begin_;
  stripped_.clear();
  strip_markers(offset, run.octets, stripped_);
  run.missing -= marker_bytes(offset + run.octets.size(), run.missing);
  run.octets = stripped_;
}

void MpaStream::align(const Run& run, bool starts_segment) {
  if (run.done()) return;
  const Alignment alignment =
      starts_segment ? alignment_of(run.octets, run.missing) : Alignment::none;
  if (alignment == Alignment::none) return lose(why_unaligned_);
  state_ = State::framed;
  was_framed_ = true;
  bad_fpdus_ = 0;
  trial_ = alignment == Alignment::doubtful ? Trial::first : Trial::none;
}

void MpaStream::take_fpdus(Run& run) {
  while (!run.done() && state_ == State::framed) {
    if (partial_.empty()) {
      begin_fpdu(run);
    } else {
      continue_fpdu(run);
    }
  }
  if (!run.done() && state_ == State::unaligned) lose(why_unaligned_);
}

void MpaStream::begin_fpdu(Run& run) {
  const View octets = run.octets;
  if (octets.size() < kUlpduLengthBytes) {
    if (run.missing > 0) return lose_alignment(LossKind::cut);
    partial_.assign(octets.begin(), octets.end());
    return run.pass(octets.size());
  }
  if (disproved(octets)) return lose_alignment(why_unaligned_);
  const std::size_t ulpdu_length = rdma::load16(octets.data());
  const std::size_t whole = fpdu_bytes(ulpdu_length);
  if (whole <= octets.size() + run.missing) {
    run.pass(whole);
    return end_fpdu(octets.first(std::min(whole, octets.size())), ulpdu_length);
  }
  partial_.reserve(whole);
  partial_.assign(octets.begin(), octets.end());
  partial_missing_ = run.missing;
  run.pass(octets.size() + run.missing);
}

void MpaStream::continue_fpdu(Run& run) {
  if (partial_.size() < kUlpduLengthBytes) {
    if (run.octets.empty()) return lose_alignment(LossKind::cut);
    partial_.push_back(run.octets.front());
    return run.pass(1);
  }
  const std::size_t ulpdu_length = rdma::load16(partial_.data());
  const std::size_t missing_response = fpdu_bytes(ulpdu_length) - have();
  const std::size_t there = std::min(missing_response, run.octets.size());
  const std::size_t missing = std::min(missing_response - there, run.missing);
  if (partial_missing_ == 0) {
    partial_.insert(partial_.end(), run.octets.begin(),
                    run.octets.begin() + static_cast<std::ptrdiff_t>(there));
    partial_missing_ = missing;
  } else {
    partial_missing_ += there + missing;
  }
  run.pass(there + missing);
  if (disproved(partial_)) return lose_alignment(why_unaligned_);
  if (there + missing < missing_response) return;
  Bytes captured = std::move(partial_);
  forget_partial();
  end_fpdu(captured, ulpdu_length);
  if (captured.capacity() <= kMostIdleBuffer && partial_.empty()) {
    partial_ = std::move(captured);
    partial_.clear();
  }
}

/// During a trial, do not wait for the end of octets that are no FPDU.
bool MpaStream::disproved(View fpdu) const {
  const std::size_t header = fpdu_header_bytes(fpdu);
  return trial_ == Trial::second && header != 0 && fpdu.size() >= header && !looks_like_fpdu(fpdu);
}

void MpaStream::end_fpdu(View captured, std::size_t ulpdu_length) {
  if (trial_ == Trial::first) {
    trial_ = Trial::second;
    return lose(why_unaligned_);
  }
  if (trial_ == Trial::second) {
    if (!looks_like_fpdu(captured)) return lose_alignment(why_unaligned_);
    trial_ = Trial::none;
  }
  const std::size_t header = fpdu_header_bytes(captured);
  const std::size_t least = header == 0 ? kUlpduLengthBytes + kTaggedHeaderBytes : header;
  if (kUlpduLengthBytes + ulpdu_length < least) return lose_alignment(LossKind::damaged);
  if (captured.size() < least) return lose(LossKind::cut);
  const bool all = captured.size() == fpdu_bytes(ulpdu_length);
  // With markers the CRC covers octets that were already removed.
  if (use_crc_ && all && !use_markers_ && crc_is_wrong(captured)) return bad_fpdu();
  const Segment segment = decode_segment(captured.data() + kUlpduLengthBytes);
  if (!acceptable(segment)) return bad_fpdu();
  bad_fpdus_ = 0;
  const std::size_t payload_length = kUlpduLengthBytes + ulpdu_length - header;
  const View payload = captured.subspan(header);
  sink_.on_ulpdu(
      side_, stamp_,
      {segment, payload.first(std::min(payload.size(), payload_length)), payload_length});
}

void MpaStream::bad_fpdu() {
  if (++bad_fpdus_ >= kMostBadFpdus) return lose_alignment(LossKind::damaged);
  lose(LossKind::damaged);
}

void MpaStream::skip() {
  forget_partial();
  if (state_ == State::stopped) return;
  trial_ = Trial::none;
  startup_cut_ = false;
  why_unaligned_ = LossKind::missing;
  state_ = State::unaligned;
}

void MpaStream::lose_alignment(LossKind kind) {
  forget_partial();
  trial_ = Trial::none;
  why_unaligned_ = kind;
  state_ = State::unaligned;
  lose(kind);
}

void MpaStream::forget_partial() {
  if (partial_.capacity() > kMostIdleBuffer) partial_ = {};
  partial_.clear();
  partial_missing_ = 0;
}

}  // namespace steertag::capture::iwarp
