// The verbs provider: the fabric's interface on librdmacm and libibverbs.
#pragma once

#include "fabric/fabric.h"

namespace steertag::fabric::verbs {

/// Errc::no_device where the system has no RDMA device.
Expected<std::unique_ptr<Provider>, Error> make_provider(const Limits& limits, Clock clock);

}  // namespace steertag::fabric::verbs
