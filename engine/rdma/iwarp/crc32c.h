// CRC32c over a sequence of pieces, as MPA computes it (RFC 5044 4.4).
#pragma once

#include <cstdint>

#include "support/bytes.h"

namespace steertag::rdma::iwarp {

class Crc32c {
 public:
  void update(View bytes);
  /// The CRC of all pieces so far; MPA stores it least significant octet first.
  std::uint32_t value() const { return ~state_; }

 private:
  std::uint32_t state_ = 0xffffffff;
};

}  // namespace steertag::rdma::iwarp
