// Operations that the owner of a connection posted.
#pragma once

#include <vector>

#include "fabric/fabric.h"
#include "fabric/software/memory_region.h"

namespace steertag::fabric::software {

/// A posted Send or RDMA Write, and the peer's memory that it names. Providers add their progress.
struct Posted {
  WorkId id = 0;
  std::vector<View> parts;  // the payload
  std::uint64_t length = 0;
  std::uint32_t stag = 0;    // of the peer; a Send invalidates it
  std::uint64_t offset = 0;  // in the peer's memory
  bool invalidate = false;
  Memory memory;              // of a Read's sink, or of a Read Response's source
  std::byte* sink = nullptr;  // the first octet of a Read's
};

/// A posted RDMA Read.
struct ReadOrder {
  std::uint32_t sink_stag = 0;  // valid for this Read alone
  std::uint64_t sink_offset = 0;
  std::uint32_t length = 0;
  std::uint32_t stag = 0;  // of the peer
  std::uint64_t offset = 0;
  Memory memory;  // the sink's
  std::byte* sink = nullptr;
};

}  // namespace steertag::fabric::software
