// What the connections of one provider share: its memory, and whose turn it is to have some.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "endpoint/receive_pool.h"
#include "endpoint/region_pool.h"
#include "fabric/fabric.h"
#include "server/rdma/pull_watchdog.h"

namespace steertag::peer {

struct RdmaContext {
  RdmaContext(fabric::Provider& its_provider, std::size_t pull_budget_bytes)
      : provider(its_provider),
        write_parts(provider.capabilities().write_parts),
        domain(provider.make_domain()),
        pool(*domain, pull_budget_bytes) {}

  fabric::Provider& provider;
  std::size_t write_parts;  // of one RDMA Write
  std::unique_ptr<fabric::Domain> domain;
  RegionPool pool;
  std::unique_ptr<ReceivePool> receives;  // none: each connection has its own
  PullQueue pulls;
  PullWatchdog watchdog;
  std::size_t unproven_bytes = 0;  // of it, held by connections that were not proven
  /// Connections that went down, or have memory to give back once they are idle.
  std::vector<std::uint64_t> unsettled;
};

}  // namespace steertag::peer
