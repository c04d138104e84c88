// A range of octets of a file.
#pragma once

#include <cstdint>

namespace steertag::peer {

/// From the first octet to the last, all ones for the end of every file.
struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

}  // namespace steertag::peer
