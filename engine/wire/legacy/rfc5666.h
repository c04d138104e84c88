// The meaning in RFC 5666 and RFC 5667 of fields that RFC 8166 changed or dropped.
//
// wire/header.h decodes their messages with Document::rfc5666.
#pragma once

#include <cstdint>
#include <span>

#include "wire/header.h"

namespace steertag::wire {

/// Octets of the messages that RFC 8166 removed.
inline constexpr std::size_t kDoneBytes = kFixedBytes;                                   // 3.8
inline constexpr std::size_t kOtherErrorBytes = kFixedBytes + 4 + 4 * kErrorExtraWords;  // 4.3

/// RFC 5666 3.9: octets of padding in an RDMA_MSGP, between the count word of an opaque item of
/// `length` octets and its data. `position` is the data's offset in the Send without padding, since
/// the receive buffer is aligned. Items below `thresh` have none: 3.9 defines "at or above", and
/// elsewhere says "exceeds"; the definition counts. An `align` of 0 disables padding.
std::uint32_t msgp_padding(std::uint32_t align, std::uint32_t thresh, std::size_t position,
                           std::size_t length);

/// RFC 5666 3.7: whether a returned write chunk of `returned` octets can hold an item of `item`
/// octets, with or without roundup. The roundup counts although it is never written. RFC 8166
/// 3.4.6.2 allows only the length without it.
bool is_returned_length(std::uint64_t returned, std::uint64_t item);

/// RFC 5667 5: a write chunk without segments, or with empty ones, asks for an inline result. RFC
/// 8267 6.4.1 allows only the former.
bool asks_for_inline(std::span<const Segment> chunk);

}  // namespace steertag::wire
