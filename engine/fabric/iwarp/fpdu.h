// MPA framing: lengths, pad and CRC of an FPDU, and the receiver (RFC 5044 4).
//
// The receiver turns a TCP stream into DDP segments.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "fabric/iwarp/formats.h"
#include "support/bytes.h"
#include "support/expected.h"
#include "trace/event.h"

namespace steertag::fabric::iwarp {

/// Payloads of FPDUs of this size are received at their destination. For smaller ones a system call
/// each would cost more than the copy.
inline constexpr std::size_t kDirectFrom = 8192;

/// RFC 5044 4.5, without markers.
std::size_t mulpdu_of(std::size_t emss);
/// Writes pad and CRC of an FPDU whose previous octets are in `crc`; returns their number. Without
/// CRC the field is zero (RFC 5044 4.4: present, with undefined content).
std::size_t encode_trailer(std::size_t ulpdu_length, Crc32c crc, bool use_crc, std::byte* to,
                           std::byte pad_octet = {});

/// The violation of an incoming segment or message, and its Terminate.
struct Violation {
  trace::Terminate cause;
  std::string detail;                         // part of a sentence with values and the clause
  bool with_segment = false;                  // the Terminate carries the segment's DDP header
  std::optional<ReadRequest> read_request{};  // and this Read Request
};

/// Receives the segments of one stream in order.
class SegmentSink {
 public:
  virtual ~SegmentSink() = default;
  /// Checks a segment before any octet of it is placed, and returns the destination of its
  /// `payload_bytes`. Must not change state: it is called again when a payload or its trailer
  /// continues later.
  virtual Expected<MutableView, Violation> place(const Segment& segment,
                                                 std::size_t payload_bytes) = 0;
  /// Whether the payload of a segment that has a place goes elsewhere, piece by piece.
  virtual bool splits(const Segment& /*segment*/) const { return false; }
  /// The place of the next octets of such a payload, when it has the first `have`. `whole` is what
  /// `place` returned.
  virtual MutableView next_piece(MutableView whole, std::size_t have) {
    return whole.subspan(have);
  }
  /// Whether the payload of a segment can be taken now. Otherwise the receiver stops behind its
  /// header, and asks again in the next `take`. One that was admitted may lose that again.
  virtual bool admits(const Segment& /*segment*/) { return true; }
  /// The segment has arrived completely and is valid. Its payload is at its destination.
  virtual std::optional<Violation> deliver(const Segment& segment, MutableView payload) = 0;
  /// False once nothing more must be delivered.
  virtual bool receiving() const = 0;
};

/// Frames the stream by ULPDU_Length. A payload goes to its destination before its CRC is known. An
/// error of the header is reported only after the CRC has proved the header. The payload of such a
/// segment is dropped.
class FpduReceiver {
 public:
  explicit FpduReceiver(SegmentSink& sink) : sink_(sink) {}
  void use_crc(bool use) { use_crc_ = use; }

  /// Destination for the next octets of the current payload; empty if there is none. Call it before
  /// every read: the previous result is valid only up to `take`.
  MutableView direct();
  /// `count` octets have been written to direct().
  std::optional<Violation> placed(std::size_t count);
  /// Takes octets that were received elsewhere. Takes nothing after a violation.
  std::optional<Violation> take(View bytes);
  /// The segment that has begun is not admitted. The next `take` must begin with the last `untaken`
  /// octets of the one before.
  bool waiting() const { return stage_ == Stage::waiting; }
  /// Whether the payload that has begun can go on. Ask before every read.
  bool admitted() const {
    return stage_ == Stage::header || stage_ == Stage::waiting || sink_.admits(segment_);
  }
  std::size_t untaken() const { return untaken_; }

  bool between_fpdus() const { return stage_ == Stage::header && header_have_ == 0; }
  /// Counts from 1: the current FPDU, or the next one.
  std::uint64_t fpdu_number() const { return number_; }
  std::uint64_t fpdus_taken() const { return number_ - 1; }
  /// Whether one of the two FPDUs before the current one is received at its destination: replies
  /// and other small messages come between large payloads.
  bool large_before() const { return std::max(before_[0], before_[1]) >= kDirectFrom; }
  std::size_t ulpdu_length() const { return ulpdu_length_; }
  /// The header of the current segment, valid while its violation is reported.
  const Segment& segment() const { return segment_; }

 private:
  enum class Stage : std::uint8_t { header, waiting, payload, trailer };

  std::optional<Violation> take_header(View& bytes);
  void begin_segment();
  void begin_payload();
  void take_payload(View& bytes);
  void put_pieces(View octets);
  std::optional<Violation> take_trailer(View& bytes);
  std::optional<Violation> finish();
  void end_payload();

  SegmentSink& sink_;
  bool use_crc_ = false;
  Stage stage_ = Stage::header;
  std::array<std::byte, kUlpduLengthBytes + kUntaggedHeaderBytes> header_{};
  std::size_t header_have_ = 0;
  std::size_t header_need_ = kUlpduLengthBytes + 2;
  std::size_t untaken_ = 0;
  std::size_t ulpdu_length_ = 0;
  Segment segment_;
  MutableView place_;   // empty while a payload is dropped
  MutableView direct_;  // the last result of direct()
  std::size_t payload_bytes_ = 0;
  std::size_t payload_have_ = 0;
  std::optional<Violation> refused_;
  std::array<std::byte, kMostTrailerBytes> trailer_{};
  std::size_t trailer_have_ = 0;
  Crc32c crc_;
  std::uint64_t number_ = 1;
  std::array<std::size_t, 2> before_{};  // lengths of the last FPDUs
};

}  // namespace steertag::fabric::iwarp
