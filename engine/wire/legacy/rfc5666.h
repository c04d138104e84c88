// What RFC 5666 and RFC 5667 make of fields that RFC 8166 kept, read differently, or dropped. Their
// messages are decoded by wire/header.h with Document::rfc5666.
#pragma once

#include <cstdint>
#include <span>

#include "wire/header.h"

namespace steertag::wire {

/// Octets of the messages that RFC 8166 does not have.
inline constexpr std::size_t kDoneBytes = kFixedBytes;                                   // 3.8
inline constexpr std::size_t kOtherErrorBytes = kFixedBytes + 4 + 4 * kErrorExtraWords;  // 4.3

/// RFC 5666 3.9: octets of padding between the count word of an opaque item of `length` octets and
/// its data, in an RDMA_MSGP. `position`, in octets from the first one of the Send, is where the
/// data would stand without them: what gets aligned is the receive buffer. Items below `thresh`
/// have none (3.9 says "at or above" where it defines the word, "exceeds" where it uses it: the
/// definition counts), and an `align` of 0 asks for nothing.
std::uint32_t msgp_padding(std::uint32_t align, std::uint32_t thresh, std::size_t position,
                           std::size_t length);

/// RFC 5666 3.7: whether a returned write chunk of `returned` octets can stand for an item of
/// `item` octets: as many, or as many with their roundup, which is counted though nobody writes it.
/// RFC 8166 3.4.6.2 leaves the first only.
bool is_returned_length(std::uint64_t returned, std::uint64_t item);

/// RFC 5667 5: a write chunk of no segments, or of segments that hold nothing, asks for its result
/// inline. RFC 8267 6.4.1 leaves the first only.
bool asks_for_inline(std::span<const Segment> chunk);

}  // namespace steertag::wire
