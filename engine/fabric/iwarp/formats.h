// Short names for the iWARP formats and for software memory, for the files of this folder.
#pragma once

#include "fabric/software/memory_region.h"
#include "fabric/software/posted_receive.h"
#include "rdma/iwarp/crc32c.h"
#include "rdma/iwarp/framing.h"
#include "rdma/iwarp/mpa_startup.h"
#include "rdma/iwarp/segment.h"
#include "rdma/iwarp/terminate.h"
#include "rdma/octets.h"

namespace steertag::fabric::iwarp {

using namespace rdma;
using namespace rdma::iwarp;
using namespace software;

}  // namespace steertag::fabric::iwarp
