// Short names for the iWARP formats, for the files of this folder.
#pragma once

#include "rdma/iwarp/crc32c.h"
#include "rdma/iwarp/framing.h"
#include "rdma/iwarp/mpa_startup.h"
#include "rdma/iwarp/segment.h"
#include "rdma/iwarp/terminate.h"
#include "rdma/octets.h"

namespace steertag::fabric::iwarp {

using namespace rdma;
using namespace rdma::iwarp;

}  // namespace steertag::fabric::iwarp
