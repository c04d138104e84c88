// The RDMAP Terminate message (RFC 5040 4.8) and the errors of the three layers that it reports.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "rdma/iwarp/segment.h"
#include "support/bytes.h"
#include "trace/event.h"

namespace steertag::rdma::iwarp {

/// Error values (RFC 5040 4.8, RFC 5041 7.2, RFC 5044 8, RFC 6581 8).
namespace cause {
using trace::Terminate;
inline constexpr Terminate kLocalCatastrophic{0, 0, 0};
inline constexpr Terminate kReadStag{0, 1, 0};
inline constexpr Terminate kReadBounds{0, 1, 1};
inline constexpr Terminate kReadRights{0, 1, 2};
inline constexpr Terminate kReadNotAssociated{0, 1, 3};
inline constexpr Terminate kReadWrap{0, 1, 4};
inline constexpr Terminate kCannotInvalidate{0, 1, 9};
inline constexpr Terminate kRdmapVersion{0, 2, 5};
inline constexpr Terminate kUnexpectedOpcode{0, 2, 6};
inline constexpr Terminate kUnspecified{0, 2, 0xff};
inline constexpr Terminate kTaggedStag{1, 1, 0};
inline constexpr Terminate kTaggedBounds{1, 1, 1};
inline constexpr Terminate kTaggedNotAssociated{1, 1, 2};
inline constexpr Terminate kTaggedWrap{1, 1, 3};
inline constexpr Terminate kTaggedVersion{1, 1, 4};
inline constexpr Terminate kInvalidQn{1, 2, 1};
inline constexpr Terminate kNoBuffer{1, 2, 2};
inline constexpr Terminate kInvalidMsn{1, 2, 3};
inline constexpr Terminate kInvalidMo{1, 2, 4};
inline constexpr Terminate kTooLong{1, 2, 5};
inline constexpr Terminate kUntaggedVersion{1, 2, 6};
inline constexpr Terminate kMpaCrc{2, 0, 2};
inline constexpr Terminate kMpaLength{2, 0, 3};
inline constexpr Terminate kMpaInsufficientIrd{2, 0, 6};
inline constexpr Terminate kMpaNoRtr{2, 0, 7};
}  // namespace cause

/// "DDP, untagged buffer: no buffer available (1/2/2)".
std::string describe(const trace::Terminate& terminate);

/// Whether it says what is wrong with the memory that an RDMA Read names: STag, bounds or rights.
bool is_of_read_memory(const trace::Terminate& cause);

/// The refusal of one RDMA Read, after which the stream goes on (docs/direct-access.md). It has the
/// MSN of the Read Request, the cause as in a Terminate, and two octets of zero.
struct ReadRefusal {
  std::uint32_t read_msn = 0;
  trace::Terminate cause;
};
/// Writes kReadRefusalBytes octets.
void encode(const ReadRefusal& refusal, std::byte* to);
ReadRefusal decode_read_refusal(const std::byte* from);

/// Largest Terminate: control word, segment length, untagged DDP header, Read Request.
inline constexpr std::size_t kMostTerminateBytes = 4 + 2 + kUntaggedHeaderBytes + kReadRequestBytes;

/// A Terminate's content. With `segment` the offender's DDP header and segment length follow (bits
/// M and D). With `read_request` the Read Request follows (bit R).
struct TerminateMessage {
  trace::Terminate cause;
  std::optional<Segment> segment;
  std::uint16_t segment_length = 0;  // octets of the offender's ULPDU
  std::optional<ReadRequest> read_request;
};

/// Writes the message in RFC bit order; returns its length. `to` has kMostTerminateBytes.
std::size_t encode(const TerminateMessage& message, std::byte* to);

/// Reads the cause in RFC bit order. Some senders use the order of a little-endian bit-field: layer
/// in the low nibble, header bits in the low bits. That order is used if only it is valid.
///
/// Empty for fewer than 4 octets.
std::optional<trace::Terminate> decode_terminate(View bytes);

}  // namespace steertag::rdma::iwarp
