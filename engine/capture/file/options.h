// Options after the fixed fields of a pcapng block: code, length, value, padded to 32 bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "capture/file/byte_order.h"
#include "support/roundup.h"

namespace steertag::capture {

namespace option_code {
inline constexpr std::uint16_t kEnd = 0;
inline constexpr std::uint16_t kComment = 1;
inline constexpr std::uint16_t kInterfaceName = 2;  // of an Interface Description Block
inline constexpr std::uint16_t kDropCount = 4;      // of an Enhanced Packet Block
inline constexpr std::uint16_t kTimestampResolution = 9;
inline constexpr std::uint16_t kTimestampOffset = 14;
}  // namespace option_code

/// Code and length.
inline constexpr std::size_t kOptionHeadBytes = 4;

struct Option {
  std::uint16_t code = 0;
  View value;
};

/// Removes the next option from the front of `rest`. Nothing at the end, or if the block ends
/// inside an option. The block's length limits the number of calls.
inline std::optional<Option> take_option(View& rest, ByteOrder order) {
  if (rest.size() < kOptionHeadBytes) return std::nullopt;
  const std::uint16_t code = order.load16(rest.data());
  const std::size_t length = order.load16(rest.data() + 2);
  if (code == option_code::kEnd || rest.size() - kOptionHeadBytes < length) return std::nullopt;
  const Option option{code, rest.subspan(kOptionHeadBytes, length)};
  rest = rest.subspan(std::min(rest.size(), kOptionHeadBytes + roundup4(length)));
  return option;
}

}  // namespace steertag::capture
