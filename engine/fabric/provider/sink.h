// The memory that an RDMA Read fills.
#pragma once

#include "fabric/fabric.h"
#include "fabric/region.h"

namespace steertag::fabric {

/// bad_region unless `length` octets from `offset` are inside the sink.
Expected<void, Error> check_sink(Region& sink, std::uint64_t offset, std::uint32_t length);

}  // namespace steertag::fabric
