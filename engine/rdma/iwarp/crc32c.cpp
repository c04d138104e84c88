// CRC32c by ISA-L, which uses the processor's fastest instructions.
#include "rdma/iwarp/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace steertag::rdma::iwarp {

void Crc32c::update(View bytes) {
  constexpr std::size_t kMostPerCall = 1U << 30;  // ISA-L takes the length as int
  while (!bytes.empty()) {
    const View piece = bytes.first(std::min(bytes.size(), kMostPerCall));
    // ISA-L's prototype lacks const; it only reads.
    auto* data = const_cast<std::byte*>(piece.data());
    state_ =
        crc32_iscsi(reinterpret_cast<unsigned char*>(data), static_cast<int>(piece.size()), state_);
    bytes = bytes.subspan(piece.size());
  }
}

}  // namespace steertag::rdma::iwarp
