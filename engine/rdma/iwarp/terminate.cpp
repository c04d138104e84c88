// Encoding, lenient decoding and description of Terminate messages.
#include "rdma/iwarp/terminate.h"

#include <algorithm>
#include <string_view>

#include "rdma/octets.h"
#include "rdma/text.h"

namespace steertag::rdma::iwarp {
namespace {

struct Known {
  trace::Terminate cause;
  std::string_view sentence;
};

bool same(const trace::Terminate& a, const trace::Terminate& b) {
  return a.layer == b.layer && a.type == b.type && a.code == b.code;
}

constexpr Known kKnown[] = {
    {cause::kReadStag, "RDMAP, remote protection: invalid STag"},
    {cause::kReadBounds, "RDMAP, remote protection: base or bounds violation"},
    {cause::kReadRights, "RDMAP, remote protection: access rights violation"},
    {cause::kReadNotAssociated, "RDMAP, remote protection: STag not associated with the stream"},
    {cause::kReadWrap, "RDMAP, remote protection: tagged offset wraps"},
    {cause::kCannotInvalidate, "RDMAP, remote protection: STag cannot be invalidated"},
    {{0, 1, 0xff}, "RDMAP, remote protection: unspecified error"},
    {cause::kRdmapVersion, "RDMAP, remote operation: invalid RDMAP version"},
    {cause::kUnexpectedOpcode, "RDMAP, remote operation: unexpected opcode"},
    {{0, 2, 7}, "RDMAP, remote operation: catastrophic error of the stream"},
    {{0, 2, 8}, "RDMAP, remote operation: catastrophic error, global"},
    {{0, 2, 9}, "RDMAP, remote operation: STag cannot be invalidated"},
    {cause::kUnspecified, "RDMAP, remote operation: unspecified error"},
    {{1, 0, 0}, "DDP: local catastrophic error"},
    {cause::kTaggedStag, "DDP, tagged buffer: invalid STag"},
    {cause::kTaggedBounds, "DDP, tagged buffer: base or bounds violation"},
    {cause::kTaggedNotAssociated, "DDP, tagged buffer: STag not associated with the stream"},
    {cause::kTaggedWrap, "DDP, tagged buffer: tagged offset wraps"},
    {cause::kTaggedVersion, "DDP, tagged buffer: invalid DDP version"},
    {cause::kInvalidQn, "DDP, untagged buffer: invalid queue number"},
    {cause::kNoBuffer, "DDP, untagged buffer: no buffer available"},
    {cause::kInvalidMsn, "DDP, untagged buffer: message sequence number out of range"},
    {cause::kInvalidMo, "DDP, untagged buffer: invalid message offset"},
    {cause::kTooLong, "DDP, untagged buffer: message too long for the buffer"},
    {cause::kUntaggedVersion, "DDP, untagged buffer: invalid DDP version"},
    {{2, 0, 1}, "MPA: TCP connection lost"},
    {cause::kMpaCrc, "MPA: CRC error"},
    {cause::kMpaLength, "MPA: marker and ULPDU length do not agree"},
    {{2, 0, 4}, "MPA: invalid request or reply frame"},
    {{2, 0, 5}, "MPA: local catastrophic error"},
    {cause::kMpaInsufficientIrd, "MPA: insufficient IRD resources"},
    {cause::kMpaNoRtr, "MPA: no matching RTR option"},
};

const Known* find(const trace::Terminate& terminate) {
  const auto* known = std::ranges::find_if(
      kKnown, [&](const Known& candidate) { return same(candidate.cause, terminate); });
  return known == std::end(kKnown) ? nullptr : known;
}

bool plausible(const trace::Terminate& terminate) {
  // RFC 5040 4.8: a local catastrophic error has no defined code.
  return (terminate.layer == 0 && terminate.type == 0) || find(terminate) != nullptr;
}

constexpr std::uint8_t kSegmentLengthValid = 0x80;
constexpr std::uint8_t kDdpHeaderIncluded = 0x40;
constexpr std::uint8_t kRdmaHeaderIncluded = 0x20;

}  // namespace

std::string describe(const trace::Terminate& terminate) {
  const Known* known = find(terminate);
  std::string_view sentence = "unknown error";
  if (known != nullptr) {
    sentence = known->sentence;
  } else if (terminate.layer == 0 && terminate.type == 0) {
    sentence = "RDMAP: local catastrophic error";
  }
  return std::string(sentence) +
         text(" (%u/%u/%u)", terminate.layer, terminate.type, terminate.code);
}

bool is_of_read_memory(const trace::Terminate& cause) {
  return cause.layer == cause::kReadStag.layer && cause.type == cause::kReadStag.type &&
         cause.code <= cause::kReadWrap.code;
}

void encode(const ReadRefusal& refusal, std::byte* to) {
  store32(to, refusal.read_msn);
  store8(to + 4, static_cast<std::uint8_t>(refusal.cause.layer << 4 | (refusal.cause.type & 15)));
  store8(to + 5, refusal.cause.code);
  store16(to + 6, 0);
}

ReadRefusal decode_read_refusal(const std::byte* from) {
  const std::uint8_t kind = load8(from + 4);
  return {load32(from),
          {static_cast<std::uint8_t>(kind >> 4), static_cast<std::uint8_t>(kind & 15),
           load8(from + 5)}};
}

std::size_t encode(const TerminateMessage& message, std::byte* to) {
  std::uint8_t control = 0;
  std::size_t length = 4;
  if (message.segment) {
    control |= kSegmentLengthValid | kDdpHeaderIncluded;
    store16(to + length, message.segment_length);
    encode(*message.segment, to + length + 2);
    length += 2 + message.segment->header_bytes();
  }
  if (message.read_request) {
    control |= kRdmaHeaderIncluded;
    encode(*message.read_request, to + length);
    length += kReadRequestBytes;
  }
  store8(to, static_cast<std::uint8_t>(message.cause.layer << 4 | (message.cause.type & 15)));
  store8(to + 1, message.cause.code);
  store8(to + 2, control);
  store8(to + 3, 0);
  return length;
}

std::optional<trace::Terminate> decode_terminate(View bytes) {
  if (bytes.size() < 4) {
    return std::nullopt;
  }
  const std::uint8_t first = load8(bytes.data());
  const std::uint8_t code = load8(bytes.data() + 1);
  const std::uint8_t control = load8(bytes.data() + 2);
  const auto high = static_cast<std::uint8_t>(first >> 4);
  const auto low = static_cast<std::uint8_t>(first & 15);
  const trace::Terminate ordered{high, low, code};
  const trace::Terminate swapped{low, high, code};
  constexpr std::uint8_t kHeaderBits = 0xe0;
  constexpr std::uint8_t kSwappedHeaderBits = 0x07;
  if ((control & kHeaderBits) == 0 && (control & kSwappedHeaderBits) != 0) {
    return swapped;
  }
  if ((control & kHeaderBits) == 0 && !plausible(ordered) && plausible(swapped)) {
    return swapped;
  }
  return ordered;
}

}  // namespace steertag::rdma::iwarp
