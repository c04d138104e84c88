// The format id of private data that open a connection of direct access (docs/direct-access.md).
// Such a connection carries no RPC-over-RDMA.
#pragma once

#include <cstdint>

#include "support/bytes.h"
#include "wire/xdr.h"

namespace steertag::wire {

/// Not that of RFC 8797, so that none takes the connection for RPC-over-RDMA.
inline constexpr std::uint32_t kDirectFormatId = 0x6f646166;

inline bool has_direct_format(View private_data) {
  return private_data.size() >= sizeof kDirectFormatId &&
         load_u32(private_data.data()) == kDirectFormatId;
}

}  // namespace steertag::wire
