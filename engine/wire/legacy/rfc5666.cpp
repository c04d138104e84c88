// Arithmetic of RFC 5666: padding, returned lengths, empty write chunks.
#include "wire/legacy/rfc5666.h"

#include "support/roundup.h"

namespace steertag::wire {

std::uint32_t msgp_padding(std::uint32_t align, std::uint32_t thresh, std::size_t position,
                           std::size_t length) {
  if (align == 0 || length < thresh) return 0;
  const auto over = static_cast<std::uint32_t>(position % align);
  return over == 0 ? 0 : align - over;
}

bool is_returned_length(std::uint64_t returned, std::uint64_t item) {
  return returned == item || returned == roundup4(item);
}

bool asks_for_inline(std::span<const Segment> chunk) {
  return chunk_length(chunk) == 0;
}

}  // namespace steertag::wire
