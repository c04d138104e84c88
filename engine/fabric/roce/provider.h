// The roce provider: RoCEv2 over UDP sockets in user space.
#pragma once

#include "fabric/fabric.h"
#include "fabric/roce/network/datagrams.h"
#include "fabric/roce/network/route.h"

namespace steertag::fabric::roce {

/// Over UDP sockets, with the faults of `fault_setting`, if any. Packets with faults of the network
/// are not bent: Capabilities::bent_packets is false.
Expected<std::unique_ptr<Provider>, Error> make_provider(RandomSource random,
                                                         const fabric::Limits& limits, Clock clock);
/// Over another network.
Expected<std::unique_ptr<Provider>, Error> make_provider(RandomSource random,
                                                         const fabric::Limits& limits, Clock clock,
                                                         OpenDatagrams open,
                                                         FindRoute find_route = system_route);

}  // namespace steertag::fabric::roce
