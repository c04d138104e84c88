// Sequences of UTF-8, one after the other.
#include "server/v4/utf8.h"

#include <cstddef>
#include <cstdint>

namespace steertag::peer {
namespace {

/// What the first octet of a sequence says about it.
struct Sequence {
  std::size_t length = 0;  // 0: no sequence starts like this
  std::uint32_t bits = 0;  // of the first octet
  std::uint32_t smallest = 0;
};

Sequence sequence_of(unsigned char first) {
  if (first < 0x80) return {1, first, 0};
  if (first >= 0xc0 && first < 0xe0) return {2, first & 0x1fU, 0x80};
  if (first >= 0xe0 && first < 0xf0) return {3, first & 0x0fU, 0x800};
  if (first >= 0xf0 && first < 0xf8) return {4, first & 0x07U, 0x10000};
  return {};
}

}  // namespace

bool is_utf8(std::string_view text) {
  constexpr std::uint32_t kLargest = 0x10ffff;
  while (!text.empty()) {  // shrinks in every round
    const auto [length, bits, smallest] = sequence_of(static_cast<unsigned char>(text.front()));
    if (length == 0 || length > text.size()) return false;
    std::uint32_t point = bits;
    for (std::size_t i = 1; i < length; ++i) {
      const auto octet = static_cast<unsigned char>(text[i]);
      if ((octet & 0xc0) != 0x80) return false;
      point = point << 6 | (octet & 0x3fU);
    }
    const bool surrogate = point >= 0xd800 && point < 0xe000;
    if (point < smallest || point > kLargest || surrogate) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace steertag::peer
