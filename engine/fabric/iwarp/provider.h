// The iwarp provider: software RDMA over TCP sockets in user space.
#pragma once

#include "fabric/fabric.h"

namespace steertag::fabric::iwarp {

Expected<std::unique_ptr<Provider>, Error> make_provider(RandomSource random, const Limits& limits,
                                                         Clock clock);

}  // namespace steertag::fabric::iwarp
